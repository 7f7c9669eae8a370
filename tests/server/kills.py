"""Kills a process that writes a log, at random moments, and looks what is left.

`python -m tests.server.kills --times N [--seed S]`: nothing acknowledged is lost, nothing that was
cancelled comes back, and every event met exactly the subscriptions that were live at its place. A
process is killed while it writes, and while it opens what the one before it left.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tamis.server.log import Log
from tests.server.follower import Follower

ROOT = Path(__file__).resolve().parents[2]
_PER_FOLDER = 10


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


def killed_once(folder: Path, chance: random.Random, auditor: Auditor) -> None:
    """Starts a process, kills it, and takes what it said."""
    seed = f"{chance.getrandbits(32):x}"
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.server.writing", str(folder), seed],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        env=dict(os.environ),
    )
    assert process.stdout is not None
    recovering = chance.random() < 0.3
    first = b""
    wanted = b"opening" if recovering else b"opened"
    while wanted not in first:
        line = process.stdout.readline()
        assert line, "the process ended by itself"
        first += line
    time.sleep(chance.uniform(0, 0.03) if recovering else chance.uniform(0.0, 0.6))
    process.send_signal(signal.SIGKILL)
    rest = process.stdout.read()
    process.stdout.close()
    assert process.wait() == -signal.SIGKILL
    auditor.hear(first + rest)


def kill(times: int, seed: int) -> Counter[str]:
    """Kills so many times; how often what was acknowledged."""
    chance = random.Random(seed)
    counts: Counter[str] = Counter()
    done = 0
    while done < times:
        place = Path(tempfile.mkdtemp())
        auditor = Auditor()
        for _ in range(min(_PER_FOLDER, times - done)):
            killed_once(place / "log", chance, auditor)
            auditor.audit(place / "log")
            done += 1
            if times > _PER_FOLDER and done % _PER_FOLDER == 0:
                print(f"{done} of {times} kills: {sum(auditor.counts.values())} answers kept")
        counts += auditor.counts
        shutil.rmtree(place)
    return counts


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=30)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    chosen = parser.parse_args()
    print(f"seed {chosen.seed}")
    counts = kill(chosen.times, chosen.seed)
    print(f"{chosen.times} kills, nothing lost of {dict(counts)}")


if __name__ == "__main__":
    main()
