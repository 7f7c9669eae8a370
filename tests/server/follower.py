"""Decides events by what the log says was live: level above threshold, and nothing else."""

from __future__ import annotations

import json

from tamis.server.changes import Decide, Due, Verdict
from tamis.server.log import Log


class Follower:
    def __init__(self, log: Log) -> None:
        self.log = log
        self.cursor = log.reading.state().cursor
        self.live = {
            text.born: int(text.document["where"]) for text in log.reading.texts_at(self.cursor)
        }

    def decide(self, most: int = 1000) -> int:
        """Decides so many entries more; the cursor then."""
        verdicts = []
        for entry in self.log.reading.entries(self.cursor, most):
            assert entry.position == self.cursor + 1
            self.cursor = entry.position
            if entry.kind in ("subscribe", "replace"):
                self.live[entry.born] = int(entry.body["where"])
            elif entry.kind in ("unsubscribe", "expire"):
                self.live.pop(entry.born, None)
            elif entry.kind == "publish":
                level = self.log.reading.event_of(entry)["level"]
                matched = [born for born, threshold in self.live.items() if level > threshold]
                body = json.dumps({"level": level})
                due = [Due(born, "match", body) for born in matched]
                verdicts.append(Verdict(entry.position, body, matched, due))
        self.log.submit(Decide(verdicts, self.cursor)).result()
        return self.cursor
