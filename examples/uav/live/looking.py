"""Shows kept frames in the report: their pictures with what was detected, and explanations.

An operator of the demo's own shares the preparation of the bundled ones and gives all that was
found: what any user would write to look at detections.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tamis
from examples.uav.live.record import DemoRun, Frame, KeptFrame
from examples.uav.operators import DETECTOR
from tamis_operators import image

MOST_SHOWN = 12
_MOST_BYTES = 260_000
PAPER = ("S1", "S2", "S3", "S4", "S5")


@dataclass
class OutlinedThing:
    """One thing on a frame: its label, its outline in pixels, and what else is marked on it."""

    label: str
    corners: list[tuple[float, float]]
    marks: list[str]

    @classmethod
    def of(cls, told: str) -> OutlinedThing:
        """What the operator told of it."""
        label, corners, marks = json.loads(told)
        return cls(label, [(x, y) for x, y in corners], marks)


@dataclass
class FramePicture:
    """A frame as the report shows it."""

    frame: Frame
    jpeg: bytes
    width: int
    height: int
    things: list[OutlinedThing]
    trouble: str = ""


def looker() -> tamis.Matcher:
    """A matcher that asks for everything that is on a frame."""
    records = {each.specification.name: each.specification for each in image.operators(DETECTOR)}
    counting = records["vehicleCount"]

    @tamis.operator(
        preparation=counting.preparation,
        inputs=("image",),
        optional_inputs=counting.optional_inputs,
        outputs=("thing",),
    )
    def thingSeen(event: Any, thing: object) -> list[str]:
        return [
            json.dumps([each.label, each.corners(), sorted(each.marks)])
            for each in event.prepared.things
        ]

    matcher = tamis.Matcher([thingSeen], limits=tamis.Limits(assignments=5_000))
    matcher.subscribe("thingSeen(?thing)", id="all")
    return matcher


def pictures(kept: Sequence[KeptFrame], told: Callable[[int, int], None]) -> list[FramePicture]:
    """The frames that the report shows, with what is on them."""
    chosen = choose(kept)
    found = []
    with looker() as matcher:
        for at, each in enumerate(chosen, 1):
            result = matcher.match(each.event)
            things = [
                OutlinedThing.of(str(one["thing"]))
                for match in result.matches
                for one in match.bindings
            ]
            jpeg, width, height = jpeg_of(each.event)
            trouble = "; ".join(one.reason for one in result.undetermined)
            found.append(FramePicture(each.frame, jpeg, width, height, things, trouble))
            told(at, len(chosen))
    return found


def choose(kept: Sequence[KeptFrame], most: int = MOST_SHOWN) -> list[KeptFrame]:
    """The paper's matches first, two frames each; then those that most subscriptions matched."""
    chosen: dict[str, KeptFrame] = {}
    for id in PAPER:
        mine = [each for each in kept if id in each.frame.subscriptions]
        for each in sorted(mine, key=lambda each: each.frame.id in chosen)[:2]:
            chosen[each.frame.id] = each
    others = sorted(
        (each for each in kept if each.frame.matches), key=lambda each: -len(each.frame.matches)
    )
    seen_teams: set[tuple[str, ...]] = set()
    for each in others:
        teams = tuple(sorted({match.team for match in each.frame.matches}))
        if len(chosen) < most and each.frame.id not in chosen and teams not in seen_teams:
            seen_teams.add(teams)
            chosen[each.frame.id] = each
    return sorted(list(chosen.values())[:most], key=lambda each: (each.frame.time, each.frame.id))


def jpeg_of(event: Mapping[str, Any]) -> tuple[bytes, int, int]:
    """The frame of an event as JPEG of no great size, with its width and height in pixels."""
    import cv2
    import numpy as np

    given = event["image"]
    pixels: Any
    if isinstance(given, str):
        given = Path(given).read_bytes()
    if isinstance(given, bytes):
        content, pixels = given, cv2.imdecode(np.frombuffer(given, np.uint8), cv2.IMREAD_COLOR)
    else:
        content, pixels = b"", np.asarray(given)
    height, width = pixels.shape[:2]
    if not content.startswith(b"\xff\xd8") or len(content) > _MOST_BYTES:
        _, encoded = cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, 72])
        content = encoded.tobytes()
    return content, width, height


@dataclass
class FrameExplanations:
    """Two explanations: of a match, and of one that did not quite match."""

    match: dict[str, Any] | None = None
    match_frame: Frame | None = None
    miss: dict[str, Any] | None = None
    miss_frame: Frame | None = None


def explanations(run: DemoRun) -> FrameExplanations:
    """The paper's match with most predicates, and its miss with most of them true."""
    ids = [id for id in PAPER if id in run.teams]
    best = FrameExplanations()
    most, nearest = (0, 0.0), 0.0
    for each in run.kept:
        for id in ids:
            data = each.result.explain(id).data
            rows = [row for part in data["alternatives"] for row in part["predicates"]]
            asked = [row for row in rows if row["kind"] == "operator"]
            shared = sum(len(row.get("shared_with", ())) for row in rows)
            if id in each.frame.subscriptions:
                if (len(rows), shared) > most:
                    most, best.match, best.match_frame = (len(rows), shared), data, each.frame
            elif asked:
                true = sum(row.get("truth") is True for row in asked)
                if true / len(asked) > nearest:
                    nearest = true / len(asked)
                    best.miss, best.miss_frame = data, each.frame
    return best
