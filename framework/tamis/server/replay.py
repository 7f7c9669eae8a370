"""Decides events of the log again, for any texts, from the answers that were kept.

It is a matcher like any other, with the operators of the one that serves; answers come from traces,
and what nobody was asked is left unknown, or asked now, so many times at most. What is kept is
taken first: nothing is asked that the event did not need.
Cost: that of a match with the `scan` index, and a hundredth of it to begin.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tamis.calling.answers import Answer, Failure
from tamis.calling.event_calls import EventCalls
from tamis.calling.executor import Inline
from tamis.catalog.intake import Intake
from tamis.engine.deciding import Answered, Caller, Decider, Underway, unsaid
from tamis.engine.decision import Decision
from tamis.errors import SubscriptionError
from tamis.limits import Budget
from tamis.matcher import Matcher
from tamis.operators.asking import Call
from tamis.planning import Planner
from tamis.result import Result
from tamis.server.traces import Trace

NOT_KEPT = "not kept"
_HELPER = "what implies "
"""How the ids begin of what is there for its implications alone, and never matches."""
_NEVER = "`an attribute of no event` + 1 > 0"


class Recollection:
    """Answers for calls that no trace has: made now, so many at most, else unknown."""

    def __init__(self, gateway: Caller, most: int) -> None:
        self._gateway = gateway
        self.trace = Trace()
        self.left = most
        self.kept = 0
        self.made = 0
        self.lacking = 0
        """The calls that were wanted and not made."""
        self.why = "nobody asked it of this event"

    def call(self, call: Call, event_calls: EventCalls) -> Answer:
        """Makes a call if there is one left."""
        if self.left <= 0:
            self.lacking += 1
            return Answer(failure=Failure(NOT_KEPT, self._why(call)), made=False)
        self.left -= 1
        self.made += 1
        return self._gateway.call(call, event_calls)

    def call_together(self, calls: Sequence[Call], event_calls: EventCalls) -> list[Answer]:
        """Makes calls of one batch, together where all may be made."""
        if len(calls) > self.left:
            return [self.call(call, event_calls) for call in calls]
        self.left -= len(calls)
        self.made += len(calls)
        return self._gateway.call_together(calls, event_calls)

    def _why(self, call: Call) -> str:
        size = self.trace.lost.get(call.text)
        return self.why if size is None else f"its answer had {size:,} bytes, too many to be kept"


class _KnownBegin(Decider):
    """Begins each event with what is known of it."""

    def __init__(self, recollection: Recollection, matcher: Matcher) -> None:
        super().__init__(recollection, Inline(), matcher.memo, unsaid)
        self._recollection = recollection

    def begin(
        self,
        planner: Planner,
        decision: Decision,
        event_calls: EventCalls,
        needless: Sequence[int],
        known: Iterable[Answered] = (),
        budget: Budget | None = None,
    ) -> Underway:
        """Leads an event on until it wants calls that are not known."""
        trace = self._recollection.trace
        kept = [
            (number, *found)
            for number, call in enumerate(decision.skeleton.calls)
            if (found := trace.answer(call.text)) is not None
        ]
        self._recollection.kept += len(kept)
        return super().begin(planner, decision, event_calls, needless, [*known, *kept], budget)


class Replay(Matcher):
    """A matcher of past events; `most_calls` may be made that nobody made then."""

    def __init__(self, serving: Matcher, most_calls: int = 0) -> None:
        super().__init__((), index="scan", learning=False, memo_bytes=0, limits=serving.limits)
        self.operators, self._derived = serving.operators, serving._derived
        self._intake = Intake(self._language, serving.operators, self._catalog)
        self.recollection = Recollection(serving._gateway, most_calls)
        self._decider = _KnownBegin(self.recollection, self)

    def decided(self, event: Mapping[str, Any], trace: Trace) -> Result:
        """Decides an event of the log by its trace."""
        self.recollection.trace = trace
        self._bring_implications(trace)
        return self.match(event)

    def _bring_implications(self, trace: Trace) -> None:
        """Subscribes what implied the calls that are asked for here, so that it does again."""
        asked = {call.text for call in self._catalog.calls} & trace.implied.keys()
        for source in {each for call in asked for each in trace.sources(call)}:
            helper = {"id": _HELPER + source, "where": f"not {source} and {_NEVER}"}
            if helper["id"] not in self:
                try:
                    take_in(self, [helper])
                except SubscriptionError:  # of an operator that is another one by now
                    continue


def take_in(matcher: Matcher, texts: Iterable[Mapping[str, Any]]) -> None:
    """Subscribes texts that were accepted before, in the place of what has their ids.

    What they warn of was said then; filters of warnings are of no use, as all threads share them.
    An operator may be another one by now, also since a moment ago: what it refuses is unknown.
    """
    matcher._insert(texts, replace=True, validity=None, is_again=True)


def without_others(explanation: dict[str, Any]) -> dict[str, Any]:
    """Returns an explanation from kept answers: who else asks is nobody's business, and how a
    predicate was decided whose answer is not kept is said as that."""
    for alternative in explanation["alternatives"]:
        for each in alternative["predicates"]:
            if "shared_with" in each:
                each["shared_with"] = []
            if str(each.get("detail", "")).startswith(f"{NOT_KEPT}:"):
                each["how"] = NOT_KEPT
                each.pop("seconds", None)
    return explanation
