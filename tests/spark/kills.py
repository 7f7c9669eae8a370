"""A rig that kills a stream in its middle: `python -m tests.spark.kills --times 100`.

Each time a stream over the same files begins anew, its driver, its JVM or one of its Python workers
is killed (SIGKILL) at a random moment, it is started again as often as it takes, and what is there
then is compared with what `tamis match` gives for the files.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tamis.spark.streaming import MATCHES, REJECTS

from .history import BROKEN, SUBSCRIPTIONS, documents, read_lines

DRIVER, JVM, WORKER = VICTIMS = ("driver", "jvm", "worker")
FILES = 6
_EVENTS = 25
_DEADLINE_SECONDS = 280
_OPERATORS = """
import time
import tamis

@tamis.operator(inputs=("loudness",))
def louderThan(event, level):
    time.sleep(0.01)
    if event["loudness"] > 95:
        raise ValueError("the microphone is broken")
    return event["loudness"] > level

@tamis.operator(inputs=("people",), outputs=("count",))
def crowdCount(event, count):
    return list(range(event["people"]))
"""


class Found(NamedTuple):
    """What one trial came to."""

    kills: int
    starts: int
    wrong: str
    """What is not as it should be; empty when all is."""


def prepare(folder: Path) -> None:
    """Files of events, broken lines among them, and what a match of them gives."""
    chance = random.Random(5)
    (folder / "events").mkdir(parents=True)
    for at in range(FILES):
        lines = [json.dumps(each) for each in documents(_EVENTS, at)]
        lines.insert(chance.randrange(_EVENTS), chance.choice(BROKEN))
        (folder / "events" / f"{at}.jsonl").write_text("\n".join(lines) + "\n")
    (folder / "ops.py").write_text(_OPERATORS)
    (folder / "s.jsonl").write_text(
        "".join(
            json.dumps({"id": f"s{at}", "where": text}) + "\n"
            for at, text in enumerate(SUBSCRIPTIONS)
        )
    )
    more = ["--events", "events", "--output", "all.jsonl", "--rejects", "bad.jsonl"]
    subprocess.run(
        command("match", *more), cwd=folder, check=True, capture_output=True, env=environment()
    )


def command(name: str, *more: str) -> list[str]:
    """The command line of tamis on the files that were prepared."""
    head = [sys.executable, "-W", "ignore", "-m", "tamis", name, "--subscriptions", "s.jsonl"]
    return [*head, "--operators", "ops.py", *more]


def environment() -> dict[str, str]:
    """That of this process, whatever folder its roots were named from."""
    given = os.environ.get("PYTHONPATH")
    if not given:
        return dict(os.environ)
    roots = os.pathsep.join(map(os.path.abspath, given.split(os.pathsep)))
    return {**os.environ, "PYTHONPATH": roots}


def trial(folder: Path, seed: int, victims: tuple[str, ...] = VICTIMS) -> Found:
    """Kills a stream once or twice, lets it come to its end, and looks at what it left."""
    chance = random.Random(seed)
    output = folder / f"out-{seed}"
    kills, starts, wanted = 0, 0, chance.randrange(1, 3)
    until = time.monotonic() + _DEADLINE_SECONDS
    while True:
        starts += 1
        process = _start(folder, output)
        try:
            if kills < wanted:
                kills += _kill(process, output, chance.choice(victims), chance)
            status = process.wait(max(1.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            return Found(kills, starts, "it does not come to an end")
        finally:
            end(process)
        if status == 0:
            break
        if kills == 0 or starts > kills + 1:
            return Found(kills, starts, f"it ended with status {status} and nobody killed it")
    return Found(kills, starts, _difference(folder, output))


def _start(folder: Path, output: Path) -> subprocess.Popen[bytes]:
    more = ["--events", "events", "--output", output.name, "--checkpoint", f"{output.name}.kept"]
    more += ["--available-now", "--files-a-batch", "1", "--master", "local[2, 4]"]
    with (folder / "log.txt").open("ab") as log:
        return subprocess.Popen(
            command("stream", *more),
            cwd=folder,
            stdout=log,
            stderr=log,
            start_new_session=True,
            env=environment(),
        )


def _kill(
    process: subprocess.Popen[bytes], output: Path, victim: str, chance: random.Random
) -> int:
    """Kills at a moment by chance; whether there was anything to kill."""
    after = len(list(output.glob("matches/batch=*"))) + chance.randrange(0, FILES // 2)
    begun = time.monotonic()
    while process.poll() is None and time.monotonic() < begun + _DEADLINE_SECONDS / 3:
        there = len(list(output.glob("matches/batch=*")))
        if there >= after and _pids(process.pid, WORKER):
            break
        time.sleep(0.02)
    time.sleep(chance.choice([0.0, chance.uniform(0, 0.1), chance.uniform(0, 2)]))
    pids = [process.pid] if victim == DRIVER else _pids(process.pid, victim)
    if process.poll() is not None or not pids:
        return 0
    try:
        os.kill(chance.choice(pids), signal.SIGKILL)
    except ProcessLookupError:
        return 0
    return 1


def _pids(root: int, what: str) -> list[int]:
    """Processes below one that are its JVM, or its Python workers."""
    words = b"java" if what == JVM else b"pyspark"
    found = []
    for pid, command in _below(root):
        is_java = b"org.apache.spark" in command
        if (words == b"java" and is_java) or (words != b"java" and b"pyspark.daemon" in command):
            found.append(pid)
    return found


def _below(root: int) -> Iterator[tuple[int, bytes]]:
    parents: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                stat = Path("/proc", name, "stat").read_text()
            except OSError:
                continue
            parents.setdefault(int(stat.rpartition(")")[2].split()[1]), []).append(int(name))
    queue = [root]
    for pid in queue:
        for child in parents.get(pid, ()):
            queue.append(child)
            try:
                yield child, Path("/proc", str(child), "cmdline").read_bytes()
            except OSError:
                continue


def end(process: subprocess.Popen[bytes]) -> None:
    """Ends what is left of a stream: the processes of its own session."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _difference(folder: Path, output: Path) -> str:
    """What is lacking or doubled."""
    wanted = [json.loads(line) for line in (folder / "all.jsonl").read_text().splitlines()]
    got = read_lines(str(output))
    for each in got:
        if not each.pop("version"):
            return "a line does not say its version"
    for what, one, other in (
        (MATCHES, wanted, got),
        (
            REJECTS,
            [json.loads(line) for line in (folder / "bad.jsonl").read_text().splitlines()],
            read_lines(str(output), REJECTS),
        ),
    ):
        first, second = (
            sorted(json.dumps(each, sort_keys=True) for each in x) for x in (one, other)
        )
        if first != second:
            lost = len(set(first) - set(second))
            return f"{what}: {len(second)} lines of {len(first)}, {lost} lost or changed"
    return ""


def main() -> int:
    """Runs trials and says what they came to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--victims", nargs="*", choices=VICTIMS, default=list(VICTIMS))
    given = parser.parse_args()
    wrong = kills = 0
    with tempfile.TemporaryDirectory(prefix="tamis-kills-") as place:
        folder = Path(place)
        prepare(folder)
        for at in range(given.times):
            found = trial(folder, given.seed + at, tuple(given.victims))
            kills += found.kills
            wrong += bool(found.wrong)
            words = found.wrong or "as one batch"
            print(f"{at + 1}: {found.kills} kills, {found.starts} starts: {words}", flush=True)
            shutil.rmtree(folder / f"out-{given.seed + at}", ignore_errors=True)
        if wrong:
            print((folder / "log.txt").read_text()[-3000:])
    print(f"{given.times} streams, {kills} kills, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
