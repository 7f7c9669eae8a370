"""Keeps what the view and the report show of a run: plain data, frame by frame, and the totals.

Invariant: every number is one that a result, an account or a shadow of the run gave; nothing is
counted a second time in another way.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tamis import Account, Result

KEPT = 160
"""Frames whose results are kept for the report: about 100 KB each."""


@dataclass
class ShownMatch:
    """A match as it is shown."""

    subscription: str
    team: str
    bindings: list[dict[str, Any]]

    @property
    def words(self) -> str:
        """Its id with its first bindings."""
        names = [f"{name}={shown(value)}" for name, value in next(iter(self.bindings), {}).items()]
        more = len(self.bindings) - 1
        return " ".join([self.subscription, *names, *([f"(+{more})"] if more > 0 else [])])


def shown(value: object) -> str:
    """A value of a binding for people."""
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return str(value)


@dataclass
class Frame:
    """One event of the run, with what became of it."""

    id: str
    time: str
    camera: str
    position: tuple[float, float]
    altitude: float
    matches: list[ShownMatch]
    alarms: list[str]
    """The subscriptions with delivery policies to which it is delivered."""
    undetermined: int
    calls: int
    spared: int
    needed_at_least: int
    seconds: float

    @classmethod
    def of(
        cls,
        event: Mapping[str, Any],
        result: Result,
        matches: list[ShownMatch],
        alarms: list[str],
        seconds: float,
    ) -> Frame:
        """What is kept of a result."""
        account, position = result.account, event["position"]
        return cls(
            id=result.event,
            time=str(event["time"]),
            camera=str(event.get("camera", "")),
            position=(float(position[0]), float(position[1])),
            altitude=float(event.get("altitude", 0)),
            matches=matches,
            alarms=alarms,
            undetermined=account.undetermined,
            calls=account.calls,
            spared=account.spared,
            needed_at_least=account.needed_at_least,
            seconds=seconds,
        )

    @property
    def subscriptions(self) -> list[str]:
        """The ids of what matched."""
        return [each.subscription for each in self.matches]

    def as_dict(self) -> dict[str, Any]:
        """The same in plain values, ready for JSON."""
        return {**vars(self), "matches": [vars(each) for each in self.matches]}


@dataclass
class KeptFrame:
    """A frame that the report may show or explain."""

    frame: Frame
    event: Mapping[str, Any]
    result: Result


@dataclass
class ComparedCalls:
    """What planners would have called on the frames that were compared, exactly."""

    frames: int = 0
    own: int = 0
    """Calls that the run itself made on them."""
    needed_at_least: int = 0
    shadow: dict[str, Any] = field(default_factory=dict)


@dataclass
class DemoRun:
    """All of a run."""

    seed: int
    planner: str
    index: str
    subscriptions: Sequence[Mapping[str, Any]]
    frames: list[Frame] = field(default_factory=list)
    kept: list[KeptFrame] = field(default_factory=list)
    account: Account = field(default_factory=Account)
    comparison: ComparedCalls = field(default_factory=ComparedCalls)
    learned: dict[str, Any] = field(default_factory=dict)
    """What the statistics say of the history: events, predicates, seconds, and some of them."""
    skipped: int = 0
    """Frames that were left out, for drones took them faster than they were matched."""
    seconds: float = 0.0
    interrupted: bool = False
    _shown: Counter[str] = field(default_factory=Counter)

    def add(self, frame: Frame, event: Mapping[str, Any], result: Result) -> None:
        """Takes a frame."""
        self.frames.append(frame)
        self.account.add(result.account)
        fresh = [id for id in frame.subscriptions if self._shown[id] < 3]
        if len(self.kept) < KEPT and (fresh or len(self.frames) <= 6):
            self._shown.update(fresh)
            self.kept.append(KeptFrame(frame, event, result))

    @property
    def teams(self) -> dict[str, str]:
        """The team of each subscription."""
        return {each["id"]: each.get("team", "") for each in self.subscriptions}

    @property
    def matches(self) -> Iterator[tuple[Frame, ShownMatch]]:
        """All matches with their frames."""
        return ((frame, each) for frame in self.frames for each in frame.matches)

    @property
    def alarms(self) -> int:
        """How many alarms there were."""
        return sum(len(frame.alarms) for frame in self.frames)

    @property
    def by_subscription(self) -> Counter[str]:
        """How many frames each subscription matched."""
        return Counter(each.subscription for _, each in self.matches)

    @property
    def flights(self) -> dict[str, list[Frame]]:
        """The frames of each camera, in order."""
        order = sorted(self.frames, key=lambda frame: (frame.camera, frame.time))
        return {
            camera: list(frames)
            for camera, frames in itertools.groupby(order, key=lambda frame: frame.camera)
        }

    def as_dict(self) -> dict[str, Any]:
        """The run in plain values, ready for JSON: what the report says, and rests on."""
        return {
            "format_version": 1,
            "seed": self.seed,
            "planner": self.planner,
            "index": self.index,
            "seconds": self.seconds,
            "interrupted": self.interrupted,
            "skipped": self.skipped,
            "account": self.account.as_dict(),
            "comparison": vars(self.comparison),
            "learned": self.learned,
            "frames": [frame.as_dict() for frame in self.frames],
        }


def matched(result: Result) -> list[ShownMatch]:
    """The matches of a result as they are shown, the paper's first."""
    found = [
        ShownMatch(each.subscription, str(each.data.get("team", "")), each.bindings[:5])
        for each in result.matches
    ]
    return sorted(found, key=lambda each: (each.team != "paper", each.subscription))
