"""Makes the history that the demo learns from before its first live frame, by Spark.

Both are kept in the output folder beside the key of what they were made from, and used again when
that is the same. Learning is the command that anybody would run, in a process of its own.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from examples.uav import operators
from examples.uav.live import feed, subscribers
from examples.uav.live.stopping import StopSignal, wait
from tamis import Statistics

_KEY = "key.json"


class History:
    """The history of a run, and its statistics."""

    def __init__(self, folder: Path, minutes: float) -> None:
        self.events = folder / "history"
        self.statistics = folder / "statistics"
        self.log = folder / "learn.log"
        self._minutes = minutes
        self._learning: subprocess.Popen[bytes] | None = None

    @property
    def command(self) -> list[str]:
        """How `tamis` is asked to learn."""
        return [
            *("tamis", "learn", "--events", _short(self.events / "events.jsonl")),
            *("--subscriptions", _short(subscribers.FILE), "--output", _short(self.statistics)),
            *("--operators", operators.__name__),
        ]

    def make(self, progress: Callable[[int, int], None], stopping: StopSignal) -> bool:
        """Draws the frames, unless they are there; whether they had to be drawn."""
        if _key_of(self.events) == self._made_of(self._sources()):
            return False
        shutil.rmtree(self.events, ignore_errors=True)

        def told(done: int, of: int) -> None:
            if stopping.asked:
                raise KeyboardInterrupt
            progress(done, of)

        feed.write_history(self.events, self._minutes, told)
        _put_key(self.events, self._made_of(self._sources()))
        return True

    def is_learned(self) -> bool:
        """Whether statistics of this history and of these subscriptions are there."""
        return _key_of(self.statistics) == self._made_of(self._learned_from())

    def begin_learning(self) -> None:
        """Begins to learn, in a process of its own."""
        shutil.rmtree(self.statistics, ignore_errors=True)
        with self.log.open("wb") as log:
            self._learning = subprocess.Popen(
                [sys.executable, "-m", *self.command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C is for this process, which ends that one
                env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
            )

    @property
    def learns(self) -> bool:
        """Whether this run learned, or had it from an earlier one."""
        return self._learning is not None

    def is_learning(self) -> bool:
        """Whether there is more to wait for."""
        return self._learning is not None and self._learning.poll() is None

    def wait(self, stopping: StopSignal, patience: float) -> None:
        """Waits until all is learned, and no longer than so many seconds."""
        wait(lambda: not self.is_learning(), stopping, patience)

    def trouble(self) -> str:
        """What went wrong in learning that is over, in words, or an empty text."""
        process = self._learning
        if process is None:
            return ""
        if process.returncode:
            lines = self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
            return (lines or [f"tamis learn ended with status {process.returncode}"])[-1]
        _put_key(self.statistics, self._made_of(self._learned_from()))
        return ""

    def stop(self) -> None:
        """Ends the learning process and those it began, if they still run."""
        process = self._learning
        if process is None or process.poll() is not None:
            return
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(process.pid, number)
                process.wait(5)
                return
            except ProcessLookupError:
                return
            except subprocess.TimeoutExpired:
                continue

    def _made_of(self, sources: list[Path]) -> dict[str, Any]:
        whole = hashlib.sha256()
        for source in sources:
            whole.update(source.read_bytes())
        return {"minutes": self._minutes, "digest": whole.hexdigest()[:16]}

    def _sources(self) -> list[Path]:
        """What the frames depend on: the simulator's own modules."""
        return [
            Path(feed.__file__),
            *sorted(
                each for each in Path(feed.__file__).parents[1].glob("*.py") if each.stem != "demo"
            ),
        ]

    def _learned_from(self) -> list[Path]:
        own = self._sources()  # with its detector
        return [subscribers.FILE, self.events / "events.jsonl", *own, *self._operators()]

    def _operators(self) -> list[Path]:
        import tamis_operators

        return sorted(Path(tamis_operators.__file__).parent.rglob("*.py"))


def _short(path: Path) -> str:
    """A path as one would type it."""
    whole = path.resolve()
    return str(whole.relative_to(Path.cwd())) if whole.is_relative_to(Path.cwd()) else str(whole)


def loaded(folder: Path, seconds: float) -> tuple[Statistics, dict[str, Any]]:
    """The statistics, and what the report says of them."""
    statistics = Statistics.load(folder)
    rows: list[dict[str, Any]] = [
        {"predicate": text, "tested": each.known, "satisfied": each.satisfied or 0}
        for text, each in statistics.predicates.items()
        if each.kind == "operator" and each.known
    ]
    rows.sort(key=lambda row: (-row["satisfied"] / row["tested"], row["predicate"]))
    return statistics, {
        "events": statistics.events or 0,
        "seconds": seconds,
        "predicates": len(statistics.predicates),
        "operator_predicates": rows,
    }


def _key_of(folder: Path) -> object:
    try:
        return json.loads((folder / _KEY).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def _put_key(folder: Path, key: dict[str, Any]) -> None:
    (folder / _KEY).write_text(json.dumps(key))
