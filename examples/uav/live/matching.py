"""The live part of the demo: each frame is matched as it comes, and other planners run beside it.

Invariant: what is shown and kept of a frame is what its result says. Frames are compared by
`Matcher.shadow` in a thread of its own, every third one, unless two wait: all is detected once
more for it, and matching should not be held up by that. How many were compared is said.
"""

from __future__ import annotations

import queue
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import tamis
from examples.uav.live.feed import LiveFrames
from examples.uav.live.record import DemoRun, Frame, matched
from examples.uav.live.stopping import StopSignal
from examples.uav.live.view import View
from examples.uav.operators import DETECTOR
from tamis import Matcher, Result
from tamis_operators import image, reasoner, spatial

_WAITING, _EVERY = 2, 3
PLANNER, INDEX = "savings", "pstbloom"
PLANNERS = ("naive", "sequential", "suborder", "savings")


def matcher_of(subscriptions: Iterable[Mapping[str, Any]]) -> Matcher:
    """A matcher with the operators on places, pixels and facts, and all subscriptions."""
    matcher = Matcher(
        [*spatial.operators(), *image.operators(DETECTOR), *reasoner.operators()],
        planner=PLANNER,
        index=INDEX,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tamis.SubscriptionWarning)  # S3 has a ')' too many
        matcher.subscribe_many(subscriptions)
    return matcher


class PlannerComparison:
    """Runs other planners on what was matched, beside the matching; for `with`."""

    def __init__(self, matcher: Matcher, run: DemoRun) -> None:
        self._run = run
        self._shadows = tamis.Shadows(matcher, PLANNERS)
        self._waiting: queue.Queue[Result | None] = queue.Queue(_WAITING)
        self._stopped = False
        self._offered = 0
        self._thread = threading.Thread(target=self._work, name="comparing", daemon=True)
        self.trouble: BaseException | None = None

    def offer(self, result: Result) -> None:
        """Compares a result, unless it is not its turn, or too many wait."""
        self._offered += 1
        if self._offered % _EVERY != 1:
            return
        try:
            self._waiting.put_nowait(result)
        except queue.Full:
            return

    def _work(self) -> None:
        total = None
        while (result := self._waiting.get()) is not None:
            if self._stopped or self.trouble is not None:
                continue
            try:
                shadow = self._shadows.of(result)
            except Exception as trouble:
                self.trouble = trouble
                continue
            if total is None:
                total = shadow
            else:
                total.add(shadow)
            comparison = self._run.comparison
            comparison.frames += 1
            comparison.own += result.account.calls
            comparison.needed_at_least += result.account.needed_at_least
            comparison.shadow = total.as_dict()

    def __enter__(self) -> PlannerComparison:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        self._stopped = kind is not None
        self._waiting.put(None)
        self._thread.join()
        if kind is None and self.trouble is not None:
            raise self.trouble


def match_live(
    matcher: Matcher,
    flights: LiveFrames,
    run: DemoRun,
    view: View,
    stopping: StopSignal,
    between: Callable[[], None] = lambda: None,
) -> None:
    """Matches frames until there are no more, or it is time to stop; `between` them, calls that."""
    began = time.perf_counter()
    deliveries = tamis.Deliveries(matcher)
    with_policies = {each["id"] for each in run.subscriptions if "deliver" in each}
    with PlannerComparison(matcher, run) as comparing:
        for event in flights:
            started = time.perf_counter()
            result = matcher.match(event)
            due = {each.subscription for each in deliveries.take(result)}
            alarms = sorted(due & with_policies)
            frame = Frame.of(event, result, matched(result), alarms, time.perf_counter() - started)
            run.add(frame, event, result)
            run.seconds = time.perf_counter() - began
            run.skipped = flights.skipped
            view.stage(
                "matching",
                f"frame {flights.number + 1:,} of {flights.total:,}, "
                f"{len(matcher):,} subscriptions",
                (flights.number + 1) / flights.total,
            )
            view.frame(frame, run)
            if alarms:
                view.say(f"alarm      a chase, seen by {frame.camera}: for {', '.join(alarms)}")
            comparing.offer(result)
            between()
            if stopping.now:
                break
        view.stage("comparing", "other planners, on the frames that still wait")
    run.interrupted = stopping.asked
