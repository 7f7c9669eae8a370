"""Decides events by what the log says was live: level above threshold, and nothing else.

An event that `fails` so often leaves its verdicts open, until it was evaluated again that often.
"""

from __future__ import annotations

import json

from tamis.server.changes import Decide, Due, Open, Verdict
from tamis.server.log import Log
from tamis.server.reading import LogEntry

_OPERATORS = ("moody",)


class Follower:
    def __init__(self, log: Log) -> None:
        self.log = log
        self.cursor = log.reading.state().cursor
        self.live = self._thresholds(self.cursor)

    def _thresholds(self, position: int) -> dict[int, int]:
        texts = self.log.reading.texts_at(position)
        return {text.born: int(text.document["where"]) for text in texts}

    def decide(self, most: int = 1000) -> int:
        """Decides so many entries more; the cursor then."""
        verdicts = []
        tries: dict[tuple[int, int], int | None] = {}
        for entry in self.log.reading.entries(self.cursor, most):
            assert entry.position == self.cursor + 1
            self.cursor = entry.position
            if entry.kind in ("subscribe", "replace"):
                self.live[entry.born] = int(entry.body["where"])
            elif entry.kind in ("unsubscribe", "expire"):
                self.live.pop(entry.born, None)
            elif entry.kind == "publish":
                verdicts.append(self._decided(entry))
            elif entry.kind == "evaluate":
                verdicts.append(self._evaluated(entry, tries))
        self.log.submit(Decide(verdicts, self.cursor)).result()
        return self.cursor

    def _decided(self, entry: LogEntry) -> Verdict:
        event = self.log.reading.event_of(entry)
        above = [born for born, threshold in self.live.items() if event["level"] > threshold]
        body = json.dumps({"level": event["level"]})
        if event.get("fails", 0):
            due = [Due(born, "undetermined", body) for born in above]
            open_ = [Open(born, _OPERATORS) for born in above]
            return Verdict(entry.position, body, [], due, None, open_)
        return Verdict(entry.position, body, above, [Due(born, "match", body) for born in above])

    def _evaluated(self, entry: LogEntry, tries: dict[tuple[int, int], int | None]) -> Verdict:
        """Decides an event again, behind what was tried of it and is not committed."""
        of, event = entry.body["of"], self.log.reading.event_of(entry)
        then = self._thresholds(of)
        matched, open_, evaluated = [], [], []
        for each in self.log.reading.open_verdicts(position=of, born=entry.born or None):
            born = each.born
            before = tries.get((of, born), each.tries)
            if before is None:
                continue
            evaluated.append(born)
            tries[of, born] = None
            if born not in self.live or self.live[born] != then.get(born):
                continue
            if before + 1 < event["fails"]:
                tries[of, born] = before + 1
                open_.append(Open(born, _OPERATORS, before + 1))
            else:
                matched.append(born)
        body = json.dumps({"of": of})
        due = [Due(born, "match", body) for born in matched]
        return Verdict(entry.position, body, matched, due, None, open_, of, evaluated)
