"""Kills a process that writes a log, at random moments, and looks what is left.

`python -m tests.server.kills --times N [--seed S --start N]`: nothing acknowledged is lost, nothing
that was cancelled comes back, and every event met exactly the subscriptions that were live at its
place. A process is killed while it writes, and while it opens what the one before it left.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from tamis.server.log import Log
from tests.killing import ProgramTrial, commanded, killed
from tests.server.follower import Follower


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
            assert all(each.kind != "publish" for each in entries[state.cursor :])
            live: dict[int, int] = {}
            kept: set[int] = set()
            due: dict[int, list[int]] = {}
            at = {entry.position: entry for entry in entries}
            for entry in entries:
                if entry.kind in ("subscribe", "replace"):
                    live[entry.born] = int(entry.body["where"])
                    kept.add(entry.born)
                elif entry.kind in ("unsubscribe", "expire"):
                    live.pop(entry.born, None)
                    if entry.kind == "unsubscribe":
                        kept.discard(entry.born)
                elif entry.kind == "publish":
                    level = log.reading.event_of(entry)["level"]
                    for born, threshold in live.items():
                        if level > threshold and entry.position <= state.cursor:
                            due.setdefault(born, []).append(entry.position)
            standings = {each.born: each for each in log.reading.standings()}
            assert standings.keys() == kept, "subscriptions that are there"
            for born, each in standings.items():
                delivered = log.reading.deliveries(born, 0, 1_000_000)
                assert [one.number for one in delivered] == list(range(1, each.due + 1))
                assert [one.position for one in delivered] == due.get(born, []), each
            self._compare(at, standings)

    def _compare(self, at: dict[int, Any], standings: dict[int, Any]) -> None:
        """Everything that was acknowledged is there."""
        texts = {(entry.born, entry.body.get("tag")): entry for entry in at.values()}
        ends = {(entry.born, entry.body.get("expires")) for entry in at.values()}
        gone = {entry.born for entry in at.values() if entry.kind == "unsubscribe"}
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
