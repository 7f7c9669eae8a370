"""Flips one bit anywhere in the folder of a server, and looks whether that is noticed.

`python -m tests.server.bits --times N [--seed S]`: what is opened then says what is wrong, or
answers as before, to the last delivery, explanation and policy.
"""

from __future__ import annotations

import argparse
import random
import shutil
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tamis.errors import TamisError
from tamis.server.log import Log
from tamis.server.matching import MatchThread
from tests.server.conftest import Client, matcher, served

_SHARED_MEMORY = Path("/dev/shm")
_EVENTS = 60
_STILL_SECONDS = 1.0


def written(folder: Path) -> Path:
    """The folder of a server as it is when it is killed, with a bit of everything."""
    data = folder / "data"
    with served(data) as client:
        kept = [
            client.subscribed(where, deliver=deliver)
            for where, deliver in (
                ("peopleCount(?n) and ?n > 5", None),
                ("people > 3 or a = 1", {"cooldown": "10min", "per": ["a"]}),
                ("a in {1, 2} and not peopleCount(4)", {"for": "3s", "per": ["a"]}),
            )
        ]
        gone, ticket = client.subscribed("a = 9")
        client.delete(gone, headers=ticket)
        for at in range(_EVENTS):
            event = {"people": "broken" if at % 7 == 0 else at % 10, "a": at % 4, "time": at}
            picture = {"image": "data:," + "x" * 20_000} if at % 20 == 0 else {}
            client.published({**event, **picture})
        address, ticket = kept[0]
        client.post(f"{address}/ack", json={"id": f"{1}-2"}, headers=ticket)
        _wait_still(client)
        shutil.copytree(data, folder / "killed", ignore=shutil.ignore_patterns("lock"))
    shutil.copytree(data, folder / "closed", ignore=shutil.ignore_patterns("lock"))
    return folder


def _wait_still(client: Client) -> None:
    """Waits until nothing is written any more: what was open is evaluated behind our back."""
    before, since = "", time.monotonic()
    while time.monotonic() - since < _STILL_SECONDS:
        lines = client.get("/metrics").text.splitlines()
        now = "".join(line for line in lines if line.startswith(("tamis_commits", "tamis_cursor")))
        if now != before:
            before, since = now, time.monotonic()
        time.sleep(0.02)


def answers(folder: Path) -> list[Any]:
    """All that a server would answer from a folder."""
    with Log(folder) as log:
        reading = log.reading
        matching = MatchThread(log, matcher())
        entries = reading.entries(0, 1_000_000)
        events = [reading.event_of(entry) for entry in entries if entry.kind == "publish"]
        known = [
            (reading.verdict(each.position), reading.trace(each.position),
             reading.position_of(each.id), reading.texts_of(each.id))
            for each in entries
        ]  # fmt: skip
        standings = reading.standings()
        delivered = [reading.deliveries(each.born, 0, 1_000_000) for each in standings]
        opened = [reading.open_verdicts(born=each.born) for each in standings]
        policies = list(matching._deliveries._records())
        return [entries, events, known, standings, delivered, opened, policies, log.state.position]


def flip(times: int, seed: int, *, aloud: bool = False) -> Counter[str]:
    """Flips so many bits, one at a time; how many were noticed, by the kind of file."""
    chance = random.Random(seed)
    counts: Counter[str] = Counter()
    place = _SHARED_MEMORY if _SHARED_MEMORY.is_dir() else None
    root = Path(tempfile.mkdtemp(dir=place))
    try:
        written(root)
        expected = {}
        for name in ("killed", "closed"):
            shutil.copytree(root / name, root / "whole")
            expected[name] = answers(root / "whole")
            shutil.rmtree(root / "whole")
        for _ in range(times):
            name = chance.choice(("killed", "closed"))
            files = sorted(path for path in (root / name).rglob("*") if path.stat().st_size)
            files = [path for path in files if path.is_file()]
            file = chance.choice(files)
            again = root / "flipped"
            shutil.copytree(root / name, again)
            place_of = again / file.relative_to(root / name)
            content = bytearray(place_of.read_bytes())
            at, bit = chance.randrange(len(content)), chance.randrange(8)
            content[at] ^= 1 << bit
            place_of.write_bytes(content)
            what = file.parent.parent.name if file.parent.parent.name == "payloads" else file.name
            try:
                found = answers(again)
            except TamisError:
                counts[f"{what}: detected"] += 1
            else:
                where = f"seed {seed}: bit {bit} of byte {at} of {place_of}"
                assert found == expected[name], f"{where} changed what is answered"
                counts[f"{what}: unchanged"] += 1
            shutil.rmtree(again)
            counts["bits"] += 1
            if aloud and counts["bits"] % 500 == 0:
                print(f"{counts['bits']:,} of {times:,} bits", flush=True)
    finally:
        shutil.rmtree(root)
    return counts


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    chosen = parser.parse_args()
    print(f"seed {chosen.seed}")
    counts = flip(chosen.times, chosen.seed, aloud=True)
    print(f"{chosen.times:,} bits, each detected or without effect: {dict(sorted(counts.items()))}")


if __name__ == "__main__":
    main()
