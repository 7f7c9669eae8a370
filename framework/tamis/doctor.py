"""Looks at an installation check by check, then at what every operator takes on its samples.

Another check is a function of nothing, and a line in `checks`. Operators are timed through a
matcher, beside what they declare.
Cost: a second where everything is compiled; compiling takes about `COLD_SECONDS`.
"""

from __future__ import annotations

import contextlib
import importlib.util
import math
import os
import platform
import re
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import tamis
from tamis.calling.lanes import Lanes, LateError
from tamis.engine.loading import compile_engine
from tamis.errors import SparkError, TamisError
from tamis.matcher import Matcher
from tamis.operators import OperatorRecord, Sample
from tamis.plugins.loader import found_plugins, installed
from tamis.testing.conformance.outcome import expected_outcome
from tamis.words import counted

OK, MISSING, BROKEN = "ok", "missing", "broken"
_OLDEST = (3, 11)
_REQUIREMENT = re.compile(r"^([A-Za-z0-9._-]+)(?:\[([^\]]*)\])?\s*([^;]*)")
_EXTRA = re.compile(r"""extra\s*==\s*['"]([^'"]+)['"]""")
_OWN = "tamis"
_COLLECTIONS = ("all", "dev")
COLD_SECONDS = 75
"""The seconds of compiling everything on two cores of 2026 (`tamis bench forms`)."""
_KERNEL_PATIENCE_SECONDS = 8
_MOST_CALLS = 30
_PATIENCE_SECONDS = 60.0
_MOST_SECONDS = 0.4
_FACTOR = 5.0
_LEAST_SECONDS = 20e-6
"""Below this, what a call costs is what measuring it costs."""


class Finding(NamedTuple):
    """The state of one thing: well, absent (and not needed), or broken."""

    subject: str
    status: str
    words: str
    mend: str = ""


def found() -> list[Finding]:
    """Runs every check, and returns the findings; a check that fails is a finding itself."""
    findings: list[Finding] = []
    for check in checks:
        try:
            findings += check()
        except Exception as failure:
            findings.append(
                Finding(
                    check.__name__,
                    BROKEN,
                    f"the check fails: {type(failure).__name__}: {failure}",
                    "report this as a fault of tamis",
                )
            )
    return findings


# checks


def python() -> Iterator[Finding]:
    """Yields the interpreter and the platform, and where tamis is."""
    words = (
        f"{platform.python_implementation()} {platform.python_version()} on "
        f"{platform.system()} {platform.machine()}, {sys.executable}"
    )
    if sys.version_info < _OLDEST:
        yield Finding("Python", BROKEN, words, "install Python 3.11 or later")
    else:
        yield Finding("Python", OK, words)
    folder = (tamis.__file__ or "").rpartition("/")[0]
    try:
        yield Finding(_OWN, OK, f"{metadata.version(_OWN)} in {folder}")
    except metadata.PackageNotFoundError:
        yield Finding(
            _OWN, BROKEN, f"not installed, run from {folder}", "pip install . in the checkout"
        )


def extras() -> Iterator[Finding]:
    """Checks the distributions of each extra, and those that tamis always needs."""
    try:
        required = metadata.requires(_OWN) or []
    except metadata.PackageNotFoundError:
        return
    by_extra: dict[str, list[tuple[str, str]]] = {}
    for line in required:
        matched = _REQUIREMENT.match(line)
        extra = _EXTRA.search(line)
        if matched and matched[1].lower() != _OWN:
            name = extra[1] if extra else ""
            by_extra.setdefault(name, []).append((matched[1], matched[3].strip()))
    for name in sorted(by_extra):
        if name not in _COLLECTIONS:
            yield _extra(name, by_extra[name])


def _extra(name: str, wanted: Iterable[tuple[str, str]]) -> Finding:
    there: list[str] = []
    absent: list[str] = []
    wrong: list[str] = []
    for distribution, versions in sorted(wanted):
        try:
            version = metadata.version(distribution)
        except metadata.PackageNotFoundError:
            absent.append(distribution)
            continue
        there.append(f"{distribution} {version}")
        if not _allowed(version, versions):
            wrong.append(f"{distribution} {version} is not {versions}")
    subject = f"tamis[{name}]" if name else "tamis needs"
    install = f"pip install '{subject}'" if name else "pip install --force-reinstall tamis"
    if wrong:
        return Finding(subject, BROKEN, "; ".join(wrong), install)
    if absent:
        have = f" ({', '.join(there)} installed)" if there else ""
        status = MISSING if name else BROKEN
        return Finding(subject, status, f"without {', '.join(absent)}{have}", install)
    return Finding(subject, OK, ", ".join(there))


def _allowed(version: str, versions: str) -> bool:
    """Returns whether a version is in a range; true where nothing here can tell."""
    try:
        from packaging.specifiers import SpecifierSet
    except ImportError:
        return True
    return SpecifierSet(versions).contains(version, prereleases=True)


def plugins() -> Iterator[Finding]:
    """Checks each plugin: loaded, left out by the user, or broken, and why."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = found_plugins()
    for each in found.found:
        subject = f"plugin {each.name}"
        source = f"{each.distribution} {each.version}".strip()
        kind, _, why = each.status.partition(": ")
        if kind == "loaded":
            brought = counted(len(each.provides), "thing")
            yield Finding(subject, OK, f"of {source} brings {brought}")
        elif kind in ("failed", "clash"):
            mend = f"update it, or pip uninstall {each.distribution}"
            yield Finding(subject, BROKEN, f"of {source} {kind}: {why}", mend)
        else:
            yield Finding(subject, OK, f"of {source} is left out: it is {each.status}")
        for reason, names in each.reasons.items():
            words, _, mend = reason.partition("; ")
            yield Finding(
                subject, BROKEN, f"{names} could not be set up: {words}", mend or "correct it"
            )


def kernels() -> Iterator[Finding]:
    """Says whether what is compiled for many subscriptions is in the cache, and where that is."""
    began = time.perf_counter()
    try:
        done = subprocess.run(
            _compiling(backward=False),
            capture_output=True,
            text=True,
            check=False,
            timeout=_KERNEL_PATIENCE_SECONDS,
        )
    except subprocess.TimeoutExpired:
        words = f"not compiled yet; whoever needs them first waits about {COLD_SECONDS} s"
        yield Finding("kernels", MISSING, words, "tamis doctor --compile does it now")
    else:
        if done.returncode:
            last = done.stderr.strip().rpartition("\n")[2]
            yield Finding("kernels", BROKEN, f"they do not compile: {last}", "reinstall numba")
        else:
            words = f"compiled, and ready in {time.perf_counter() - began:.1f} s"
            yield Finding("kernels", OK, words)
    yield cache()


def compile_all(*, backward: bool = False) -> Iterator[str]:
    """Compiles what many subscriptions need: indexes, planners, the engine; yields names."""
    parts = _parts()
    for name in reversed(parts) if backward else parts:
        parts[name]()
        yield name


def compile_by_two() -> Iterator[str]:
    """Compiles everything in two processes, which begin at either end and meet in the cache."""
    with subprocess.Popen(_compiling(backward=True), stderr=subprocess.PIPE, text=True) as other:
        yield from compile_all()
        _, failure = other.communicate()
    if other.returncode:
        raise TamisError(f"kernels do not compile: {failure.strip().rpartition(chr(10))[2]}")


def _compiling(*, backward: bool) -> list[str]:
    code = f"from {__name__} import compile_all; [*compile_all(backward={backward})]"
    return [sys.executable, "-c", code]


def _parts() -> dict[str, Callable[[], object]]:
    """Finds what is compiled, by name."""
    plugins = installed()
    parts: dict[str, Callable[[], object]] = {}
    for named in (plugins.indexes, plugins.planners):
        parts |= {name: each.compile for name, each in named.items() if each.compile is not None}
    return {**parts, "engine": compile_engine}


def cache() -> Finding:
    """Says where machine code is kept: where numba's documentation says that it looks."""
    subject = "kernel cache"
    package = Path(next(iter(tamis.__path__)))
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        folder, mend = Path(chosen), "set NUMBA_CACHE_DIR to a folder that can be written"
    elif os.access(package, os.W_OK):
        folder, mend = package, "make it writable, or set NUMBA_CACHE_DIR"
    else:
        words = f"{package} is read-only: numba keeps them in its folder for the user"
        return Finding(subject, OK, words)
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK):
        return Finding(subject, BROKEN, f"{folder} cannot be written: each process compiles", mend)
    files = [*folder.rglob("*.nbc")]
    size = sum(file.stat().st_size for file in files)
    where = f"{folder}" if chosen else f"{folder} (__pycache__)"
    return Finding(subject, OK, f"{where} holds {len(files)} kernels, {size / 1e6:.1f} MB")


def vectors() -> Iterator[Finding]:
    """Checks whether indexes can look up 64 bytes at once on this processor."""
    from tamis.index.buckets.bits import has_vectors

    if has_vectors():
        yield Finding("index", OK, "looks up 64 values at once (AVX-512 VBMI)")
    else:
        words = "looks up values one by one: the processor, or numba's settings, lack AVX-512 VBMI"
        yield Finding("index", MISSING, words, "nothing to do: answers are the same, in more time")


def java() -> Iterator[Finding]:
    """Checks the Java that Spark would run on: the user's, or that of pip."""
    if importlib.util.find_spec("pyspark") is None:
        return
    from tamis.spark.java import java_found

    try:
        yield Finding("Java", OK, str(java_found()))
    except SparkError as bad:
        words, _, mend = str(bad).partition("): ")
        yield Finding("Java", BROKEN, f"{words})", mend)


checks: list[Callable[[], Iterable[Finding]]] = [python, extras, plugins, kernels, vectors, java]


# operators


class OperatorTiming(NamedTuple):
    """An operator on its samples: how it stands, how many calls were made and what they took."""

    name: str
    status: str
    calls: int = 0
    median_seconds: float | None = None
    declared_seconds: float | None = None
    """With its preparations, which every event of a sample needs anew."""
    words: str = ""
    mend: str = ""

    @property
    def factor(self) -> float | None:
        """The multiple of the declared cost that a call takes; `None` where either is not known."""
        if self.median_seconds is None or self.declared_seconds is None:
            return None
        floor = _LEAST_SECONDS
        return max(self.median_seconds, floor) / max(self.declared_seconds, floor)


def timed(record: OperatorRecord) -> OperatorTiming:
    """Times an operator; its first call is not counted, for that loads what it needs."""
    known = record.specification
    declared = None
    if known.cost_seconds is not None:
        declared = known.cost_seconds + sum(each.cost_seconds for each in known.preparations)
    base = OperatorTiming(known.name, OK, declared_seconds=declared)
    if known.missing is not None:
        needs, _, install = known.missing.partition(": ")
        words = "optional, not set" if needs == known.name else needs
        return base._replace(status=MISSING, words=words, mend=install)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            operator = record.factory()
            samples = list(operator.samples())
            if not samples:
                return base._replace(
                    words="has no samples", mend="give it some: samples=[tamis.Sample(…)]"
                )
            fresh = OperatorRecord(known, lambda: operator)
            longest = max(_PATIENCE_SECONDS, 3 * (known.timeout or 0))
            seconds = Lanes().run(partial(_measured, fresh, samples), longest, known.name)
    except LateError:
        return base._replace(
            status=BROKEN, words="a call does not end", mend="declare timeout=… and bound its work"
        )
    except Exception as failure:
        words = (
            str(failure)
            if isinstance(failure, TamisError)
            else f"{type(failure).__name__}: {failure}"
        )
        return base._replace(
            status=BROKEN, words=words, mend="hold it to its laws: pytest --tamis-operators"
        )
    if not seconds:
        return base._replace(
            words="its samples call it with no event", mend="give samples the inputs it needs"
        )
    return _judged(base._replace(calls=len(seconds), median_seconds=statistics.median(seconds)))


def _judged(base: OperatorTiming) -> OperatorTiming:
    factor = base.factor
    if factor is None:
        return base._replace(words="declares no cost", mend="say cost_seconds=…")
    if factor <= _FACTOR:
        return base._replace(words="ok" if factor >= 1 / _FACTOR else "less, on its samples")
    return base._replace(
        words=f"off by {factor:,.0f} times: it takes more",
        mend="correct cost_seconds of it or of its preparations; matchers learn it anyhow",
    )


def _measured(record: OperatorRecord, samples: Iterable[Sample]) -> list[float]:
    """Times calls on the samples; the first one is left out."""
    seconds: list[float] = []
    started = math.inf
    matchers = []
    for sample in samples:
        matcher = Matcher([record], index="scan", planner="sequential", memo_bytes=0)
        matcher.subscribe(sample.predicate, id="sample")
        matchers.append((matcher, sample))
    while True:
        before = len(seconds)
        for matcher, sample in matchers:
            seconds += _match(matcher, sample)
            started = min(started, time.perf_counter())
            late = time.perf_counter() - started > _MOST_SECONDS
            if len(seconds) > 1 and (late or len(seconds) > _MOST_CALLS):
                return seconds[1:]
        if len(seconds) == before:
            return seconds


def _match(matcher: Any, sample: Sample) -> list[float]:
    content: Mapping[str, Any] = sample.event
    result = matcher.match(content)
    if result.undetermined:
        raise TamisError(f"a sample has no answer: {result.undetermined[0].reason}")
    wanted = None if sample.answer is ... else expected_outcome(sample.answer)
    if wanted is not None and bool(result.matches) != wanted.holds:
        raise TamisError(f"{sample.predicate} is {bool(result.matches)}, not as its sample says")
    return [call.seconds for call in result.calls]
