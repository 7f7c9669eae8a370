"""How tamis is installed: the Python, the distributions of each extra, the plugins."""

from __future__ import annotations

import platform
import re
import sys
import warnings
from collections.abc import Iterable, Iterator
from importlib import metadata

from tamis.doctor.finding import BROKEN, MISSING, OK, Finding
from tamis.plugins.loader import found_plugins

_OLDEST = (3, 11)
_REQUIREMENT = re.compile(r"^([A-Za-z0-9._-]+)(?:\[([^\]]*)\])?\s*([^;]*)")
_EXTRA = re.compile(r"""extra\s*==\s*['"]([^'"]+)['"]""")
_OWN = "tamis"
_COLLECTIONS = ("all", "dev")


def python() -> Iterator[Finding]:
    """The interpreter and the platform, and where tamis is."""
    import tamis

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
    """What is installed of each extra, and of what tamis always needs."""
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
    """Whether a version is in a range; taken to be where nothing here can tell."""
    try:
        from packaging.specifiers import SpecifierSet
    except ImportError:
        return True
    return SpecifierSet(versions).contains(version, prereleases=True)


def plugins() -> Iterator[Finding]:
    """Each plugin: loaded, left out by the user, or broken, and why."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = found_plugins()
    for each in found.found:
        subject = f"plugin {each.name}"
        source = f"{each.distribution} {each.version}".strip()
        kind, _, why = each.status.partition(": ")
        if kind == "loaded":
            brought = f"{len(each.provides)} thing{'s' * (len(each.provides) != 1)}"
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
