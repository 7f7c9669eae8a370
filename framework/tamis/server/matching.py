"""Follows the log: matches each event against what was live at its place, and delivers.

One thread changes and asks the matcher, in the order of the log; so an event meets exactly the
subscriptions that came before it and did not end before it. Events that stand together are in
flight together. Verdicts, deliveries and the cursor are one commit; what a crash cuts off before
it is decided again, and nobody has seen it.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby, takewhile
from pathlib import Path
from typing import Any, TypeVar

from tamis.catalog import Catalog
from tamis.catalog.intake import Intake
from tamis.errors import SubscriptionError, SubscriptionErrors
from tamis.event import Event
from tamis.language.condition import Language
from tamis.log import log as logger
from tamis.matcher import Matcher
from tamis.policy import Deliveries, Delivery
from tamis.result import Match, Result
from tamis.result.account import Account
from tamis.server import changes
from tamis.server.changes import Decide, Due, Retain, Verdict
from tamis.server.errors import LogError, NoRoom, Overload
from tamis.server.log import Log
from tamis.server.open_verdicts import OpenVerdicts, open_verdicts
from tamis.server.policies import Snapshots, decided
from tamis.server.reading import LogEntry
from tamis.server.replay import take_in
from tamis.server.traces import MOST_BYTES, Trace

UNDETERMINED = "undetermined"
_TEXTS = (changes.SUBSCRIBE, changes.REPLACE)
_DECIDED = (changes.PUBLISH, changes.EVALUATE)
_TOGETHER = 64
_TEXTS_TOGETHER = 2_048
_LATELY_SECONDS = 2.0
_IDLE_SECONDS = 0.5
_TIDY_SECONDS = 10.0
_NO_ROOM_SECONDS = 0.25
Done = TypeVar("Done")


def entry_of(id: str, document: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a document of the log as a matcher takes it."""
    return {**document, "id": id}


def shown_time(seconds: float) -> str:
    """Returns a time as RFC 3339 says it."""
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")
    except (OverflowError, ValueError, OSError):  # a year that calendars do not reach
        return str(seconds)


def _shown(delivery: Delivery, event: str | None, bindings: object) -> dict[str, Any]:
    """Returns a delivery as subscribers read it."""
    data = {
        "event": event,
        "events": list(delivery.events),
        "bindings": bindings,
        "time": shown_time(delivery.time),
    }
    return {**data, "key": list(delivery.key)} if delivery.key else data


def _not_taken(bad: SubscriptionError, among: int) -> LogError:
    several = bad.errors if isinstance(bad, SubscriptionErrors) else [bad]
    return LogError(
        f"{len(several):,} of {among:,} subscriptions of the log cannot be taken by this server. "
        f"Are all its --operators given? {several[0]}"
    )


class MatchThread:
    """The thread that decides, and the matcher that it leads."""

    def __init__(
        self,
        log: Log,
        matcher: Matcher,
        *,
        most_age: float | None = None,
        most_bytes: int | None = None,
        trace_bytes: int | None = None,
        counts_misses: bool = True,
    ) -> None:
        self.log = log
        self.matcher = matcher
        self.account = Account()
        self.failures = 0
        self.broken: str | None = None
        self.decided: Callable[[Decide], None] = lambda decided: None
        """Is told what was committed, by the thread."""
        self._retention = most_age, most_bytes
        self._counts_misses = counts_misses
        """Whether anybody may ask which subscriptions an event missed by least."""
        self._trace_bytes = MOST_BYTES if trace_bytes is None else trace_bytes
        self._snapshots = Snapshots(log.folder)
        self._born: dict[str, int] = {}
        self._arrival = 0.0
        self._cursor = log.reading.state().cursor
        self._tidied = time.monotonic()
        self._ending: float | None = None
        self._pace = 0.0, 0.0
        """Entries decided lately, and the seconds that took."""
        self._deliveries = self._restored()
        self._check_rest()
        self._open = OpenVerdicts(log, matcher, self._written)
        self._thread = threading.Thread(target=self._run, name="tamis matching", daemon=True)

    def start(self) -> None:
        """Begins to follow the log."""
        self._thread.start()

    def close(self, seconds: float) -> None:
        """Decides what was accepted, for so long at most, and ends."""
        self._ending = time.monotonic() + seconds
        self.log.writer.waken_followers()
        self._thread.join()
        if self.broken is None and self._cursor == self.log.reading.state().cursor:
            self._snapshots.write(self._cursor, self._deliveries)

    def backup(self, folder: Path) -> None:
        """Copies the log as it is now to a new folder, with the state of delivery policies."""
        with self._snapshots.copying(folder):
            self.log.backup(folder)

    # beginning

    def _restored(self) -> Deliveries:
        """Brings the matcher and the policies to where the cursor is."""
        state = self.log.reading.state()
        for position in [*self._snapshots.positions(self._cursor), 0]:
            if position < state.floor - 1:
                break
            self._subscribe_at(position)
            deliveries = (
                self._snapshots.opened(position, self.matcher, self._now)
                if position
                else Deliveries(self.matcher, clock=self._now)
            )
            if deliveries is not None:
                self._take_again(deliveries, position)
                return deliveries
            self._clear()
        raise LogError(
            f"the state of delivery policies in {self.log.folder / 'policies'} is gone, and the "
            f"log does not reach back to make it anew. Restore a backup"
        )

    def _clear(self) -> None:
        for id in list(self.matcher):
            self.matcher.unsubscribe(id)
        self._born.clear()

    def _subscribe_at(self, position: int) -> None:
        """Subscribes what was live at a position, in the place of what a database kept."""
        self._clear()
        if self._counts_misses:
            self.matcher._sieve.count_misses()
        texts = self.log.reading.texts_at(position)
        try:
            take_in(self.matcher, (entry_of(text.id, text.document) for text in texts))
        except SubscriptionError as bad:
            raise _not_taken(bad, len(texts)) from bad
        self._born = {text.id: text.born for text in texts}

    def _check_rest(self) -> None:
        """Refuses to begin where subscriptions behind the cursor cannot be taken."""
        position = self._cursor
        operators = self.matcher.operators
        intake = Intake(Language(self.matcher.limits), operators, Catalog())
        while entries := self.log.reading.entries(position, 1_000):
            position = entries[-1].position
            asked = [each for each in entries if each.kind in _TEXTS]
            resolver = intake.resolver(operators.renewable)
            try:
                texts = [entry_of(str(at), each.body) for at, each in enumerate(asked)]
                intake.accept(texts, True, resolver)
            except SubscriptionError as bad:
                raise _not_taken(bad, len(asked)) from bad

    def _take_again(self, deliveries: Deliveries, position: int) -> None:
        """Leads matcher and policies from a position to the cursor, by the verdicts of the log."""
        while position < self._cursor:
            entries = self.log.reading.entries(position, min(1_000, self._cursor - position))
            position = entries[-1].position
            for is_decided, group in groupby(entries, lambda entry: entry.kind in _DECIDED):
                if not is_decided:
                    self._change(group, deliveries)
                for entry in group if is_decided else ():
                    self._take_verdict(deliveries, entry)

    def _take_verdict(self, deliveries: Deliveries, entry: LogEntry) -> None:
        verdict = self.log.reading.verdict(entry.position)
        if verdict is not None and "failure" not in verdict:
            event = Event.of(self.log.reading.event_of(entry), str, self.matcher._derived)
            self._arrival = entry.at
            result = decided(event, verdict, self.matcher._catalog.version)
            deliveries._take(result, verdict.get("evaluated"))

    def _now(self) -> float:
        """Returns when the event arrived that policies are told of."""
        return self._arrival

    # following

    def _run(self) -> None:
        try:
            while self._goes_on():
                entries = self._patiently(self._upcoming)
                if entries:
                    self._decide(entries)
                else:
                    self._tidy()
                    self.log.writer.wait_beyond(self._cursor, _IDLE_SECONDS)
        except Exception as failure:
            self.broken = f"matching has stopped: {type(failure).__name__}: {failure}"
            logger.exception("matching has stopped")

    def _upcoming(self) -> list[LogEntry]:
        """Returns the entries that come next: many more where they are subscriptions alone."""
        entries = self.log.reading.entries(self._cursor, _TOGETHER)
        if len(entries) == _TOGETHER and all(entry.kind in _TEXTS for entry in entries):
            more = self.log.reading.entries(self._cursor, _TEXTS_TOGETHER)
            entries = list(takewhile(lambda entry: entry.kind in _TEXTS, more))
        return entries

    def _goes_on(self) -> bool:
        if self._ending is None:
            return True
        is_behind = self._cursor < self.log.state.position
        return is_behind and time.monotonic() < self._ending

    def seconds_for(self, entries: int) -> float:
        """Returns how long it takes to decide so many entries, as it went lately."""
        decided, seconds = self._pace
        return entries * seconds / decided if decided else 1.0

    def _note_pace(self, entries: int, seconds: float) -> None:
        left = 0.5 ** (seconds / _LATELY_SECONDS)
        self._pace = self._pace[0] * left + entries, self._pace[1] * left + seconds

    def _decide(self, entries: list[LogEntry]) -> None:
        began = time.monotonic()
        verdicts: list[Verdict] = []
        last: list[tuple[int, Due]] = []
        for kind, group in groupby(entries, lambda entry: entry.kind in _DECIDED and entry.kind):
            if kind == changes.PUBLISH:
                verdicts += self._matched(list(group))
            elif kind == changes.EVALUATE:
                for entry in group:
                    verdicts.append(self._evaluated(entry, verdicts))
            else:
                last += self._change(group, self._deliveries)
        self._cursor = entries[-1].position
        decided = Decide(verdicts, self._cursor, self._trace_bytes, last)
        self._written(decided)
        self._note_pace(len(entries), time.monotonic() - began)
        self.decided(decided)
        if self._ending is None:
            self._patiently(self._open.evaluate_those_of_who_is_back)
        self._snapshots.write_if_due(self._cursor, self._deliveries)
        self._tidy()

    def _change(self, entries: Iterable[LogEntry], deliveries: Deliveries) -> list[tuple[int, Due]]:
        """Subscribes and ends what entries say; texts that follow each other come together. What
        is due to those that expire: their open digests."""
        texts: dict[str, LogEntry] = {}
        last: list[tuple[int, Due]] = []
        for entry in entries:
            if entry.kind in _TEXTS:
                if entry.id in texts:
                    self._subscribe(texts)
                texts[entry.id] = entry
            elif entry.kind in (changes.UNSUBSCRIBE, changes.EXPIRE):
                self._subscribe(texts)
                if self._born.get(entry.id) == entry.born:
                    if entry.kind == changes.EXPIRE:
                        last += self._digests(entry, deliveries)
                    del self._born[entry.id]
                    self.matcher.unsubscribe(entry.id)
        self._subscribe(texts)
        return last

    def _digests(self, entry: LogEntry, deliveries: Deliveries) -> Iterator[tuple[int, Due]]:
        """Yields the open digests of a subscription that expires."""
        for delivery in deliveries._drained((entry.id,)):
            due = Due(entry.born, delivery.kind, json.dumps(_shown(delivery, None, [])))
            yield entry.position, due

    def _subscribe(self, texts: dict[str, LogEntry]) -> None:
        """Subscribes texts by id, of which none is left then."""
        if texts:
            take_in(self.matcher, (entry_of(id, entry.body) for id, entry in texts.items()))
            self._born.update((id, entry.born) for id, entry in texts.items())
            texts.clear()

    def _matched(self, entries: list[LogEntry]) -> list[Verdict]:
        """Returns the verdicts of events that stand together."""
        events = self._patiently(lambda: [self.log.reading.event_of(each) for each in entries])
        verdicts: list[Verdict] = []
        try:
            for entry, result in zip(entries, self.matcher.match_many(events), strict=True):
                verdicts.append(self._verdict(entry, result))
        except Exception as failure:
            if isinstance(failure, LogError):
                raise
            # the event that no matcher can take is kept with the reason, and the next ones go on
            bad, after = entries[len(verdicts)], entries[len(verdicts) + 1 :]
            verdicts.append(self._failed(bad, failure))
            verdicts += self._matched(after) if after else []
        return verdicts

    def _verdict(self, entry: LogEntry, result: Result) -> Verdict:
        self._arrival = entry.at
        matched = {match.subscription: match for match in result.matches}
        due = self._due(entry, result, matched)
        undetermined = [each._asdict() for each in result.undetermined]
        for each in result.undetermined:
            data = {"event": entry.id, "events": [entry.id], "bindings": []}
            data |= {"time": shown_time(entry.at), "reason": each.reason}
            due.append(Due(self._born[each.subscription], UNDETERMINED, json.dumps(data)))
        account, open_ = result.account, open_verdicts(result, self._born)
        self.account.add(account)
        self._open.note(account, open_)
        body = {
            "matches": [match.as_dict() for match in matched.values()],
            "undetermined": undetermined,
            "account": account.as_dict(),
        }
        born = [self._born[id] for id in matched]
        trace = None if result.decision is None else Trace.of(result.decision).written()
        return Verdict(entry.position, json.dumps(body), born, due, trace, open_)

    def _evaluated(self, entry: LogEntry, before: Sequence[Verdict]) -> Verdict:
        """Returns the verdict on an event that is evaluated again, behind others that are not
        committed."""
        self._arrival = entry.at
        already = {(each.of or 0, born) for each in before for born in each.evaluated}
        try:
            again = self._patiently(lambda: self._open.evaluated(entry, self._born, already))
        except LogError:
            raise
        except Exception as failure:
            failed = self._failed(entry, failure)
            return failed._replace(open=self._open.tried(entry), of=entry.body["of"])
        result = again.result
        body = {
            "of": entry.body["of"],
            "evaluated": list(again.born),
            "matches": [match.as_dict() for match in result.matches],
            "undetermined": [each._asdict() for each in result.undetermined],
            "account": result.account.as_dict(),
        }
        matched = {match.subscription: match for match in result.matches}
        taken = decided(result._seen.event, body, self.matcher._catalog.version)
        due = self._due(entry, taken, matched, again.born)
        open_, result.account.events = again.still_open(), 0
        self.account.add(result.account)
        self._open.note(result.account, open_)
        return Verdict(
            entry.position,
            json.dumps(body),
            [self._born[id] for id in matched],
            due,
            again.trace.written(),
            open_,
            entry.body["of"],
            [*again.born.values(), *again.gone],
        )

    def _due(
        self,
        entry: LogEntry,
        result: Result,
        matched: Mapping[str, Match],
        among: Iterable[str] | None = None,
    ) -> list[Due]:
        """Returns what policies deliver of a result, which may be of some subscriptions alone."""
        due = []
        for delivery in self._deliveries._take(result, among):
            match = matched.get(delivery.subscription)
            data = _shown(delivery, entry.id, [] if match is None else match.bindings)
            for name in ("incomplete", "truncated"):
                if match is not None and getattr(match, name):
                    data[name] = True
            due.append(Due(self._born[delivery.subscription], delivery.kind, json.dumps(data)))
        return due

    def _failed(self, entry: LogEntry, failure: Exception) -> Verdict:
        self.failures += 1
        logger.error("event %s cannot be matched", entry.id, exc_info=failure)
        words = f"{type(failure).__name__}: {failure}"
        body = {"matches": [], "undetermined": [], "account": {}, "failure": words}
        return Verdict(entry.position, json.dumps(body), [], [])

    def _tidy(self) -> None:
        """Ends what is over, and removes what is kept no longer."""
        now = time.monotonic()
        if now - self._tidied < _TIDY_SECONDS:
            return
        self._tidied = now
        self._patiently(self._open.evaluate_those_of_who_is_back)
        self._written(changes.Expire())
        age, most = self._retention
        if age is not None or most is not None:
            self._snapshots.write_if_due(self._cursor, self._deliveries, events=1)
            retain = Retain(age, most, self._snapshots.oldest())
            while self._written(retain).is_more:
                pass

    def _written(self, change: changes.Change[Done]) -> Done:
        """Commits a change."""
        return self._patiently(lambda: self.log.writer.submit(change).result())

    def _patiently(self, do: Callable[[], Done]) -> Done:
        """Does something; where the disk, the queue or the table of open files has no room for it,
        as soon as there is some."""
        is_told = False
        while True:
            try:
                return do()
            except (NoRoom, Overload) as bad:
                if self._ending is not None and time.monotonic() >= self._ending:
                    raise
                if not is_told:
                    logger.error("matching waits: %s", bad)
                is_told = True
                time.sleep(_NO_ROOM_SECONDS)
