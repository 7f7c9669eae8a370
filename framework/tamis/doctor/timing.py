"""What operators take on their samples, through a matcher, beside what they declare."""

from __future__ import annotations

import statistics
import time
import warnings
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

from tamis.calling.lanes import Lanes, LateError
from tamis.doctor.finding import BROKEN, MISSING, OK
from tamis.errors import TamisError
from tamis.operators import OperatorRecord, Sample
from tamis.testing.conformance.outcome import expected_outcome

_MOST_CALLS = 30
_PATIENCE_SECONDS = 60.0
_MOST_SECONDS = 0.4
_FACTOR = 5.0
_LEAST_SECONDS = 20e-6
"""Below this, what a call costs is what measuring it costs."""


class Timed(NamedTuple):
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
        """How many times as much as declared a call takes; `None` where either is not known."""
        if self.median_seconds is None or self.declared_seconds is None:
            return None
        floor = _LEAST_SECONDS
        return max(self.median_seconds, floor) / max(self.declared_seconds, floor)


def timed(record: OperatorRecord) -> Timed:
    """Times an operator; its first call is not counted, for that loads what it needs."""
    known = record.specification
    declared = None
    if known.cost_seconds is not None:
        declared = known.cost_seconds + sum(each.cost_seconds for each in known.preparations)
    base = Timed(known.name, OK, declared_seconds=declared)
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


def _judged(base: Timed) -> Timed:
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
    """What each call took, the first left out."""
    from tamis.matcher import Matcher

    seconds: list[float] = []
    started = time.perf_counter()
    matchers = []
    for sample in samples:
        matcher = Matcher([record], index="scan", planner="sequential", memo_bytes=0)
        matcher.subscribe(sample.predicate, id="sample")
        matchers.append((matcher, sample))
    while True:
        before = len(seconds)
        for matcher, sample in matchers:
            seconds += _match(matcher, sample)
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
