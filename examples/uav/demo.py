"""`make demo`: drones over New York publish to a match server, whose page shows what matches.

    make demo                   until Ctrl-C
    SECONDS=30 make demo        30 seconds, then what it found
    python -m examples.uav.demo --help

Spark learns from a recorded day meanwhile, and the server takes what it says when it is there. At
the end planners are compared on frames that nothing was tuned on; a second Ctrl-C leaves that out.
Nothing here reaches the network.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import webbrowser
from base64 import b64encode
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import tamis
from examples.uav import operators, subscribers
from examples.uav.simulation import Observation, Simulation
from tamis_bench.report import Row, tables
from tamis_bench.scores import Score
from tamis_bench.uav_scores import SUBSCRIPTIONS

DRONES, INTERVAL_SECONDS = 12, 10.0
FLIGHTS_SEED, START = 8_100, "2026-06-12T17:30:00-04:00"
"""Flights that nothing was tuned on, at the busy end of an afternoon."""
DAY_SEED, DAY_SECONDS = 11, 8_893
"""What is learned from: frames of a drone two hours and a half apart, each at another moment of
what goes on there."""
KEY = "demo"
LEARNED, CALLED = "statistics", "statistics-called"
"""The folders of what Spark learned, and learned for calls that an index would spare."""
DEAR_SECONDS = 0.01
"""What a subscription may add to an event before it is called dear."""
_SERVES, _PATIENCE, _EVERY = re.compile(r"tamis serves (\S+), "), 60.0, 50
Child = subprocess.Popen[bytes]


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    """Reads the command line and the environment."""
    parser = argparse.ArgumentParser(prog="python -m examples.uav.demo", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    seconds = os.environ.get("SECONDS") or None
    parser.add_argument("--seconds", type=float, default=seconds, help="that drones fly, at most")
    parser.add_argument("--seed", type=int, default=FLIGHTS_SEED, help="of the flights")
    parser.add_argument("--port", type=int, default=0, help="of the server; a free one by itself")
    parser.add_argument("--recorded", type=int, default=120, help="frames that are learned from")
    words = "that planners are compared on; 0 leaves that out"
    parser.add_argument("--frames", type=int, default=24, help=words)
    parser.add_argument("--output", type=Path, default=Path("demo-output"), metavar="FOLDER")
    return parser.parse_args(given)


def main(given: Sequence[str] | None = None) -> int:
    """Runs the demo."""
    options = arguments(given)
    output: Path = options.output
    output.mkdir(parents=True, exist_ok=True)
    if not (output / LEARNED / "manifest.json").exists():
        tamis.Statistics().save(output / LEARNED)
    try:
        with learning(output, options.recorded) as learner:
            with serving(output, options.port) as url, tamis.Client(url, admin_key=KEY) as client:
                say(f"the page: {url}/  (the key that it asks for: {KEY})")
                if os.environ.get("DISPLAY") or sys.platform == "darwin":
                    webbrowser.open(f"{url}/")
                flights = Flights(client)
                try:
                    flights.subscribe()
                    flights.fly(options.seed, options.seconds, learner)
                except KeyboardInterrupt:
                    say("")
                show(flights.rows())
            if options.frames:
                compare(options.frames, output, learner)
    except KeyboardInterrupt:
        print("\nstopped", file=sys.stderr)
        return 130
    return 0


def say(words: str) -> None:
    """Prints a line."""
    print(words, flush=True)


def show(rows: Iterable[Row]) -> None:
    """Prints tables, as benches do."""
    for _, text in tables(rows):
        say(text)


@contextmanager
def child(command: Sequence[str], log: Path) -> Iterator[Child]:
    """Begins a process that Ctrl-C does not reach, and ends it with those that it began."""
    with log.open("wb") as told:
        begun = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=told, stderr=subprocess.STDOUT,
            start_new_session=True, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        )  # fmt: skip
    try:
        yield begun
    finally:
        for number in (signal.SIGTERM, signal.SIGKILL):
            if begun.poll() is None:
                os.killpg(begun.pid, number)
                try:
                    begun.wait(30)
                except subprocess.TimeoutExpired:
                    continue


def learning(output: Path, recorded: int) -> Any:
    """Records a day of flights and learns from it on Spark, in a process of its own."""
    from examples.uav import comparison

    day, seeds = output / "history", (subscribers.SEED, comparison.OTHER_SUBSCRIBERS)
    entries = [
        {**each, "id": f"{seed}-{each['id']}"} for seed in seeds for each in subscribers.made(seed)
    ]
    minutes = recorded / DRONES * DAY_SECONDS / 60
    flights = (
        f"--seed {DAY_SEED} --drones {DRONES} --interval {DAY_SECONDS} --minutes {minutes:.3f}"
    )
    steps = [
        f"{sys.executable} -m examples.uav.simulate {flights} --output {shlex.quote(str(day))}"
    ]
    for name, module, those in (
        (LEARNED, operators, entries),
        (CALLED, comparison, [subscribers.unindexed(each) for each in entries]),
    ):
        wanted = output / f"{name}.jsonl"
        wanted.write_text("\n".join(map(json.dumps, those)), encoding="utf-8")
        files = [shlex.quote(str(each)) for each in (day / "events.jsonl", wanted, output / name)]
        steps.append(
            f"{sys.executable} -m tamis learn --events {files[0]} --subscriptions {files[1]} "
            f"--operators {module.__name__} --output {files[2]}"
        )
    return child(["sh", "-c", f"set -x; {' && '.join(steps)}"], output / "learn.log")


@contextmanager
def serving(output: Path, port: int = 0) -> Iterator[str]:
    """Runs the match server, with an empty log; yields its address."""
    data, log = output / "log", output / "serve.log"
    shutil.rmtree(data, ignore_errors=True)
    command = [
        *(sys.executable, "-m", "tamis", "serve", "--port", str(port), "--data", str(data)),
        *("--operators", operators.__name__, "--admin-key", KEY),
        *("--statistics", str(output / LEARNED), "--follow-statistics"),
        *("--keep-bytes", "1000000000"),
    ]
    with child(command, log) as server:
        ends = time.monotonic() + _PATIENCE
        while not (found := _SERVES.search(log.read_text(encoding="utf-8", errors="replace"))):
            if server.poll() is not None or time.monotonic() > ends:
                raise tamis.ServerError(f"the server did not start: {log} says why")
            time.sleep(0.05)
        yield found[1]


def simulation(seed: int = FLIGHTS_SEED) -> Simulation:
    """Makes the flights that are published."""
    start = datetime.fromisoformat(START)
    return Simulation(seed, drones=DRONES, interval=INTERVAL_SECONDS, start=start)


class Flights:
    """Publishes flights, and keeps what came of them."""

    def __init__(self, client: tamis.Client) -> None:
        self._client = client
        self._entries: dict[str, Mapping[str, Any]] = {}
        self._standing: dict[str, Callable[[], dict[str, Any]]] = {}
        self._events = 0
        self._matches: Counter[str] = Counter()
        self._scores: dict[str, Score] = defaultdict(Score)

    def subscribe(self) -> None:
        """Subscribes everybody."""
        began = time.monotonic()
        for entry in subscribers.made():
            made = self._client.subscribe(
                entry["where"], id=entry["id"], deliver=entry.get("deliver"),
                data={"team": entry["team"]}, forecast=False,
            )  # fmt: skip
            self._entries[made.id], self._standing[made.id] = entry, made.show
        say(f"{len(self._entries)} subscriptions in {time.monotonic() - began:.1f} s")

    def fly(self, seed: int, seconds: float | None, learner: Child) -> None:
        """Publishes frames as fast as they are drawn and matched, until it is enough."""
        began, learns = time.monotonic(), True
        for seen in simulation(seed).observations():
            took = time.monotonic() - began
            if seconds is not None and took >= seconds:
                return
            self.publish(seen)
            if self._events % _EVERY == 0:
                say(f"-- {self._events} events, {self._events / took:.1f} a second")
            if learns and learner.poll() is not None:
                learns = False
                words = "and the server goes by it" if not learner.returncode else "in vain"
                say(f"Spark has learned, {words}")
                self.forecast()

    def publish(self, seen: Observation) -> None:
        """Publishes an event with its picture in it, and waits for its verdict."""
        picture = f"data:image/jpeg;base64,{b64encode(seen.event['image']).decode()}"
        [verdict] = self._client.publish({**seen.event, "image": picture}, wait=True)
        matched = [each["subscription"] for each in verdict["matches"]]
        self._events += 1
        fresh = [id for id in matched if not self._matches[id]]
        self._matches.update(matched)
        for id in SUBSCRIPTIONS:
            self._scores[id].add(id in matched, id in seen.truth.subscriptions)
        if fresh:
            lon, lat = seen.event["position"]
            some = ", ".join(fresh[:4]) + (f" and {len(fresh) - 4} more" if fresh[4:] else "")
            place = f"{seen.event['id']:<14}{lon:.4f}, {lat:.4f}"
            say(f"{place}  {len(matched):>2} matched; new: {some}")

    def forecast(self) -> None:
        """Says what those would add who want everything of every frame; no dear one is kept."""
        since = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        for id, where in subscribers.EVERYTHING.items():
            address = f"/subscriptions?dry_run=true&limit=0&since={since}"
            said = self._client.request("POST", address, {"where": where})
            seconds = said["forecast"]["seconds_per_event"]
            words = "dear, not kept" if seconds > DEAR_SECONDS else "kept"
            say(f"{id}, {where}: would add {seconds:.3f} s to an event; {words}")
            if seconds <= DEAR_SECONDS:
                self._client.subscribe(where, id=id)

    def rows(self) -> Iterator[Row]:
        """Yields what the server says it did, S1 to S5 beside the truth, alarms beside matches."""
        account = self._client.request("GET", "/operators/accounts")
        part = (
            f"{self._events} events, {sum(self._matches.values()):,} matches; "
            f"{account['calls']:,} calls made, {account['spared']:,} spared, at least "
            f"{account['needed_at_least']:,} needed"
        )
        for name, each in sorted(account["operators"].items(), key=lambda one: -one[1]["seconds"]):
            figures = {what: each[what] for what in ("calls", "spared", "failed", "seconds")}
            yield {"part": part, "operator": name, **figures}
        for id, score in self._scores.items():
            yield {"part": "Matches beside the truth", "subscription": id, **score.row()}
        told: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        for id, entry in self._entries.items():
            if "deliver" in entry:
                policy = ", ".join(f"{name} {value}" for name, value in entry["deliver"].items())
                counts = {"matches": self._matches[id], "alarms": self._standing[id]()["due"]}
                told[entry["team"], policy].update({"subscriptions": 1, **counts})
        for (team, policy), counts in told.items():
            yield {"part": "Alarms by policy", "team": team, "policy": policy, **counts}


def compare(frames: int, output: Path, learner: Child) -> None:
    """Prints what planners take on other frames, for these subscriptions and for others."""
    from examples.uav import comparison

    if learner.poll() is None:
        say("waiting for Spark, before planners are compared")
    if learner.wait():
        raise SystemExit(f"nothing was learned: {output / 'learn.log'} says why")
    learned, called = (tamis.Statistics.load(output / name) for name in (LEARNED, CALLED))
    events = list(comparison.frames(frames))
    for seed in (subscribers.SEED, comparison.OTHER_SUBSCRIBERS):
        show(comparison.measured(events, learned, called, seed))


if __name__ == "__main__":
    sys.exit(main())
