"""Evaluates again what operators left open, through the log, so that it is delivered once.

An entry of the log has an event evaluated again behind everything before it: for the subscriptions
of which its verdict is open and whose text is still that of then. What was said is believed, what
failed is asked again, and the new verdict is one transaction with its deliveries and the cursor.
Invariant: a verdict is open or was delivered, never both. An operator that answers again after it
failed has what it left open evaluated, so many times at most; who subscribed may ask for it too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from tamis.server import changes
from tamis.server.changes import Open
from tamis.server.replay import Replay, take_in
from tamis.server.traces import Trace

if TYPE_CHECKING:
    from tamis.matcher import Matcher
    from tamis.result import Result
    from tamis.result.account import Account
    from tamis.server.log import Log
    from tamis.server.reading import LogEntry, OpenVerdict

MOST_TRIES = 10
"""Without anybody's asking for it."""
_TOGETHER = 16
_PROBE_SECONDS = 60.0
_UNLIMITED = 1 << 31


class ReEvaluation(NamedTuple):
    """Holds what an event gave when it was evaluated again."""

    result: Result
    trace: Trace
    born: dict[str, int]
    """The subscriptions that it was evaluated for."""
    gone: list[int]
    """Those whose text is another one by now, or that are gone."""
    tries: dict[int, int]

    def still_open(self) -> list[Open]:
        """Returns what stayed open."""
        left = open_verdicts(self.result, self.born)
        return [each._replace(tries=self.tries[each.born] + 1) for each in left]


def open_verdicts(result: Result, born: Mapping[str, int]) -> list[Open]:
    """Returns the verdicts of a result that operators left open, and which operators did."""
    decision = result.decision
    if decision is None or not result.undetermined:
        return []
    skeleton, name = decision.skeleton, result._seen.catalog.id_of
    failed: dict[str, dict[str, None]] = {each.subscription: {} for each in result.undetermined}
    for alternative in decision.unknown:
        id = name(int(skeleton.subscriptions[skeleton.owners[alternative]]))
        for test in skeleton.tests_of(alternative):
            if id in failed and test in decision.failures:
                failed[id][skeleton.tests[test].call.specification.name] = None
    return [Open(born[id], tuple(names)) for id, names in failed.items()]


class OpenVerdicts:
    """Holds what is open in a log, as the thread that follows it knows it."""

    def __init__(
        self, log: Log, matcher: Matcher, write: Callable[[changes.Evaluate], Any]
    ) -> None:
        self._log = log
        self._write = write
        self._matcher = matcher
        self._waiting = {name for each in self._found() for name in each.operators}
        """The operators that left something open which may be tried without being asked for."""
        self._back: set[str] = set()
        self._asked: set[int] = set()
        """The events that an entry of the log has evaluated, which was not come to yet."""
        self._probed = time.monotonic()

    def _found(self) -> list[OpenVerdict]:
        return self._log.reading.open_verdicts(tries=MOST_TRIES - 1)

    def note(self, account: Account, open_: Iterable[Open]) -> None:
        """Takes which operators answered about an event, and which left something open."""
        self._waiting.update(name for each in open_ for name in each.operators)
        if self._waiting:
            answered = {
                name for name, each in account.operators.items() if each.calls > each.failed
            }
            self._back |= answered & self._waiting

    def evaluate_those_of_who_is_back(self) -> None:
        """Has events evaluated whose operators answer again; and one now and then, to see."""
        now = time.monotonic()
        is_probe = bool(self._waiting) and now - self._probed >= _PROBE_SECONDS
        if not (self._back or is_probe):
            return
        found = [each for each in self._found() if each.position not in self._asked]
        wanted = [each for each in found if self._back.intersection(each.operators)]
        if is_probe:
            self._probed = now
            wanted = wanted or found[:1]
        positions = list(dict.fromkeys(each.position for each in wanted))[:_TOGETHER]
        self._waiting = {name for each in found for name in each.operators}
        self._back &= {name for each in wanted for name in each.operators}
        if positions:
            self._asked.update(positions)
            self._write(changes.Evaluate(positions))

    def evaluated(
        self, entry: LogEntry, born: Mapping[str, int], already: Collection[tuple[int, int]]
    ) -> ReEvaluation:
        """Evaluates the event of an entry for those of which it is open, but for those for which
        it was already evaluated, and that is not committed yet."""
        position = entry.body["of"]
        self._asked.discard(position)
        replay = Replay(self._matcher, most_calls=_UNLIMITED)
        trace = (self._log.reading.trace(position) or Trace()).without_failures()
        ids = {birth: id for id, birth in born.items()}
        taken: dict[str, int] = {}
        gone: list[int] = []
        tries: dict[int, int] = {}
        found = self._log.reading.open_verdicts(position=position, born=entry.born or None)
        for each in found:
            if (position, each.born) in already:
                continue
            id = ids.get(each.born)
            where = None if id is None else self._where(id, each.born, position)
            if id is None or where is None:
                gone.append(each.born)
            else:
                taken[id], tries[each.born] = each.born, each.tries
                take_in(replay, [{"id": id, "where": where}])
        result = replay.decided(self._log.reading.event_of(entry), trace)
        if result.decision is not None:
            trace = Trace.of(result.decision).with_answers(trace)
        return ReEvaluation(result, trace, taken, gone, tries)

    def tried(self, entry: LogEntry) -> list[Open]:
        """Returns what stays open of an event that could not be evaluated."""
        found = self._log.reading.open_verdicts(position=entry.body["of"])
        return [Open(each.born, each.operators, each.tries + 1) for each in found]

    def _where(self, id: str, born: int, position: int) -> str | None:
        """Returns the text of a subscription, if it is that of a position."""
        now = self._matcher.subscription(id).text
        texts = self._log.reading.texts_of(id, born)
        then = next((each for each in texts if each.is_live_at(position)), None)
        return now if then is not None and then.document["where"] == now else None
