"""Kills a process that writes a log, at random moments, and looks what is left.

`python -m tests.server.kills --times N [--seed S --start N]`: nothing acknowledged is lost, nothing
that was cancelled comes back, and every event met exactly the subscriptions that were live at its
place, and what an operator that failed left open is delivered once, when it was evaluated again as
often as that fails. A process is killed while it writes, and while it opens what is left.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tamis.server.log import Log
from tests.killing import ProgramTrial, commanded, killed
from tests.server.follower import Follower

_DECIDED = ("publish", "evaluate")


def _events(at: Mapping[int, Any]) -> list[int]:
    return [position for position, entry in at.items() if entry.kind == "publish"]


class Replay:
    """What entries make due and leave open, by a plain model of what they say."""

    def __init__(self, entries: Sequence[Any], events: Mapping[int, Mapping[str, Any]]) -> None:
        self.live: dict[int, int] = {}
        self.kept: set[int] = set()
        self.events = events
        self.due: dict[int, list[tuple[int, str]]] = {}
        self.opened: dict[int, set[int]] = {}
        """The events that were left open, by subscription."""
        self.again: dict[int, list[tuple[int, int]]] = {}
        """Where an event was evaluated again, and for which subscription; 0 for all."""
        self.changed: dict[int, int] = {}
        for entry in entries:
            self._take(entry)

    def _take(self, entry: Any) -> None:
        born = entry.born
        if entry.kind in ("subscribe", "replace"):
            threshold = int(entry.body["where"])
            if self.live.get(born) != threshold:
                self.changed[born] = entry.position
            self.live[born] = threshold
            self.kept.add(born)
        elif entry.kind in ("unsubscribe", "expire"):
            self.live.pop(born, None)
            if entry.kind == "unsubscribe":
                self.kept.discard(born)
        elif entry.kind == "publish":
            event = self.events[entry.position]
            fails = bool(event.get("fails", 0))
            for each, threshold in self.live.items():
                if event["level"] > threshold:
                    kind = "undetermined" if fails else "match"
                    self.due.setdefault(each, []).append((entry.position, kind))
                    if fails:
                        self.opened.setdefault(each, set()).add(entry.position)
        elif entry.kind == "evaluate":
            self.again.setdefault(entry.body["of"], []).append((entry.position, born))

    def check(self, born: int, got: list[tuple[int, str]], open_: Mapping[int, int]) -> None:
        """Compares what was delivered to a subscription, and what is open of it."""
        assert [one for one in got if one[0] in self.events] == self.due.get(born, []), born
        assert [position for position, _ in got] == sorted(position for position, _ in got)
        later = {position for position, _ in got if position not in self.events}
        assert all(kind == "match" for position, kind in got if position in later)
        opened = self.opened.get(born, set())
        assert open_.keys() <= opened
        for of in opened:
            asked = [position for position, whose in self.again.get(of, []) if whose in (0, born)]
            matched = sorted(later.intersection(asked))
            later -= set(matched)
            fails = self.events[of]["fails"]
            if born in self.live and self.changed[born] < of:
                assert matched == asked[fails - 1 : fails], (born, of)
                assert open_.get(of) == (None if matched else len(asked)), (born, of)
            else:  # its text is another one, or it ended: by chance before it was evaluated
                assert matched in ([], asked[fails - 1 : fails]) or len(asked) > fails
                assert len(matched) + (of in open_) <= 1
        assert not later, "deliveries of nothing that was open"


class Auditor:
    """What was acknowledged, and whether a log has it all."""

    def __init__(self) -> None:
        self.said: list[dict[str, Any]] = []
        self.counts: Counter[str] = Counter()

    def hear(self, lines: bytes) -> None:
        whole = lines[: lines.rfind(b"\n") + 1]
        for line in whole.splitlines():
            what = json.loads(line)
            if "did" in what:
                self.said.append(what)
            self.counts[what.get("did") or what.get("refused") or next(iter(what))] += 1

    def audit(self, folder: Path) -> None:
        """Compares a log with what was said, and with a plain replay of its own entries."""
        with Log(folder) as log:
            Follower(log).decide(1_000_000)
            state = log.reading.state()
            entries = log.reading.entries(0, 1_000_000)
            assert [entry.position for entry in entries] == list(range(1, state.position + 1))
            assert all(each.kind not in _DECIDED for each in entries[state.cursor :])
            at = {entry.position: entry for entry in entries}
            replay = Replay(entries, {each: log.reading.event_of(at[each]) for each in _events(at)})
            standings = {each.born: each for each in log.reading.standings()}
            assert standings.keys() == replay.kept, "subscriptions that are there"
            for born, each in standings.items():
                delivered = log.reading.deliveries(born, 0, 1_000_000)
                assert [one.number for one in delivered] == list(range(1, each.due + 1))
                open_ = log.reading.open_verdicts(born=born)
                assert len(open_) < 1_000, "more is open than can be read at once"
                replay.check(
                    born,
                    [(one.position, one.kind) for one in delivered],
                    {one.position: one.tries for one in open_},
                )
            self._compare(at, standings)

    def _compare(self, at: dict[int, Any], standings: dict[int, Any]) -> None:
        """Everything that was acknowledged is there."""
        texts = {(entry.born, entry.body.get("tag")): entry for entry in at.values()}
        ends = {(entry.born, entry.body.get("expires")) for entry in at.values()}
        gone = {entry.born for entry in at.values() if entry.kind == "unsubscribe"}
        again = Counter(
            (entry.body["of"], entry.born) for entry in at.values() if entry.kind == "evaluate"
        )
        for said in self.said:
            match said["did"]:
                case "subscribe" | "replace":
                    entry = texts[said["born"], said["tag"]]
                    assert (entry.kind, entry.body["where"]) == (said["did"], said["where"])
                case "renew":
                    assert (said["born"], said["expires"]) in ends
                case "unsubscribe":
                    assert said["born"] in gone
                    assert said["born"] not in standings
                case "publish":
                    for id, position, level in zip(
                        said["ids"], said["positions"], said["levels"], strict=True
                    ):
                        assert (at[position].id, at[position].body["event"]["level"]) == (id, level)
                case "evaluate":
                    again[said["of"], said["born"]] -= said["count"]
                    assert again[said["of"], said["born"]] >= 0
                case "acknowledge":
                    standing = standings.get(said["born"])
                    assert standing is None or standing.acknowledged >= said["number"]


def trial() -> ProgramTrial:
    return ProgramTrial("tests.server.writing", Auditor())


def kill(times: int, seed: int, start: int = 0) -> Counter[str]:
    """Kills so many times; how often what was acknowledged."""
    return killed(times, seed, trial, start=start)


if __name__ == "__main__":
    commanded(__doc__, kill)
