"""Measures what costly calls gain from being made together, events always waiting.

An operator whose batch of eight costs what two calls cost alone is asked event by event, then with
many events in flight. So are ONNX detectors, which are compared with their own rate: that of the
same frames shown to the detector eight at once, without a matcher. One network is made here, a
third of a small detector; models that are fetched are added by name (`--model yolo11n`).
"""

from __future__ import annotations

import itertools
import json
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from tamis import Matcher, operator
from tamis_bench.options import Passes, Seed, count
from tamis_bench.report import Row, progress
from tamis_bench.timing import alternating

BATCH, IN_FLIGHT = 8, 64
_ALONE_SECONDS = 0.004
_SIDE, _CHANNELS = 416, (3, 32, 64, 128, 256, 256)
_NAMES = ("person", "car", "boat")
TOGETHER = "a batch of 8 costs what two cost alone"

Frames = list[dict[str, Any]]


def measured(
    *,
    passes: Passes = 5,
    seed: Seed = 1,
    events: Annotated[int, count("Events of a pass.")] = 128,
    model: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME…", help="Fetched detectors whose first axis is free."),
    ] = None,
) -> Iterator[Row]:
    """Yields a row for the operator, and one for each detector."""
    matcher = Matcher([costly], in_flight=IN_FLIGHT)
    matcher.subscribe("costly(1)")
    waiting: Frames = [{"id": f"e{at}"} for at in range(events)]
    progress(TOGETHER)
    alone, together = _least(
        passes, lambda: _one_by_one(matcher, waiting), lambda: _in_flight(matcher, waiting)
    )
    yield {
        "part": "An operator",
        "what": TOGETHER,
        "events": events,
        "alone_a_second": events / alone,
        "together_a_second": events / together,
        "times": alone / together,
    }
    chance = np.random.default_rng(seed)
    frames: Frames = [
        {"id": f"f{at}", "image": chance.integers(0, 255, (_SIDE, _SIDE, 3), np.uint8)}
        for at in range(events)
    ]
    with tempfile.TemporaryDirectory() as folder:
        made = {"made here": str(_network(Path(folder), chance))}
        for name in (*made, *(model or ())):
            progress(f"detector: {name}")
            path = Path(folder) / "detector.json"
            described = {"model": made.get(name, name), "batch": BATCH, "threshold": 0.9}
            path.write_text(json.dumps(described), encoding="utf-8")
            yield _of_detector(name, str(path), frames, passes)


def _together(events: Sequence[Any], lists: Sequence[Any]) -> list[bool]:
    """Takes as long for eight as for two alone, and so for others in between."""
    time.sleep(_ALONE_SECONDS * (1 + (len(events) - 1) / (BATCH - 1)))
    return [True] * len(events)


@operator(solve_events=_together, batch=BATCH)
def costly(event: Any, number: int) -> bool:
    """Waits, as for an accelerator."""
    time.sleep(_ALONE_SECONDS)
    return True


def _least(passes: int, *runs: Callable[[], object]) -> list[float]:
    """Returns the fewest seconds of each, which take turns."""
    timed = alternating(dict(enumerate(runs)), passes, warm=True)
    return [timed[at].least for at in range(len(runs))]


def _one_by_one(matcher: Matcher, events: Frames) -> None:
    for event in events:
        matcher.match(event)


def _in_flight(matcher: Matcher, events: Frames) -> None:
    calls = sum(len(result.calls) for result in matcher.match_many(events))
    assert calls == len(events)


def _of_detector(name: str, detector: str, frames: Frames, passes: int) -> Row:
    """Compares a detector in a matcher with the same on its own."""
    from tamis_operators.image import operators
    from tamis_operators.image.configuration import DetectorConfiguration
    from tamis_operators.image.detectors import detector_of
    from tamis_operators.image.detectors.network import NetworkDetector

    own = detector_of(DetectorConfiguration.of(detector))
    assert isinstance(own, NetworkDetector)
    pictures = [frame["image"] for frame in frames]
    matcher = Matcher(operators(detector), in_flight=IN_FLIGHT, memo_bytes=0)
    matcher.subscribe("peopleCount(?n) and ?n > 3")

    def batches() -> None:
        for at in range(0, len(pictures), BATCH):
            own.detect_many(pictures[at : at + BATCH])

    def singles() -> None:
        for picture in pictures:
            own.detect_many([picture])

    batches()  # the first run of a network takes longer
    alone, batched, matched = _least(passes, singles, batches, lambda: _in_flight(matcher, frames))
    return {
        "part": "ONNX detectors, frames a second",
        "what": name,
        "frames": len(frames),
        "one_by_one": len(frames) / alone,
        "eight_at_once": len(frames) / batched,
        "in_a_matcher": len(frames) / matched,
        "of_batched": batched / matched,
    }


def _network(folder: Path, chance: np.random.Generator) -> Path:
    """Makes a network of convolutions whose first axis is free, and the names of its classes."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    nodes, weights, last = [], [], "image"
    for at, (before, after) in enumerate(itertools.pairwise(_CHANNELS)):
        kernel = chance.normal(0, (9 * before) ** -0.5, (after, before, 3, 3)).astype(np.float32)
        weights.append(numpy_helper.from_array(kernel, f"kernel{at}"))
        nodes += [
            helper.make_node(
                "Conv", [last, f"kernel{at}"], [f"c{at}"], strides=[2, 2], pads=[1, 1, 1, 1]
            ),
            helper.make_node("Relu", [f"c{at}"], [f"r{at}"]),
        ]
        last = f"r{at}"
    values = 4 + len(_NAMES)
    kernel = chance.normal(0, 0.1, (values, _CHANNELS[-1], 1, 1)).astype(np.float32)
    weights += [
        numpy_helper.from_array(kernel, "last"),
        numpy_helper.from_array(np.array([0, values, -1], np.int64), "shape"),
    ]
    nodes += [
        helper.make_node("Conv", [last, "last"], ["map"]),
        helper.make_node("Sigmoid", ["map"], ["scores"]),
        helper.make_node("Reshape", ["scores", "shape"], ["out"]),
    ]
    shape: list[str | int] = ["frames", 3, _SIDE, _SIDE]
    graph = helper.make_graph(
        nodes,
        "network",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, ["frames", values, "places"])],
        weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    path = folder / "model.onnx"
    onnx.save(model, path)
    (folder / "model.names").write_text("\n".join(_NAMES), encoding="utf-8")
    return path
