"""Operators that break one law each, and some that break none."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import tamis
from tamis import Implication, Operator, OperatorRecord, Parameter, Preparation, Sample
from tamis.language.values import NUMBER, STRING
from tamis.operators.specification import Specification, Variable

View = Mapping[str, Any]
LOUD = {"loudness": 7}
LEVEL = (Parameter("level", frozenset({NUMBER})),)


def a_number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"loudness is a number, not {value!r:.40}")
    return value


def levels(name: str, *more: Sample) -> list[Sample]:
    return [
        Sample(f"{name}(3)", {"loudness": 7}, True),
        Sample(f"{name}(9)", {"loudness": 7}, False),
        Sample(f"{name}(0)", {"loudness": -1.5}, False),
        *more,
    ]


# what breaks none


def bounds(arguments: Sequence[Any]) -> list[tuple[str, str, object]]:
    least, asked = arguments
    if not isinstance(asked, Variable):
        return [("loudness", "=", asked), ("loudness", ">=", least)]
    return [("loudness", ">=", max(least, asked.least)), ("loudness", "<=", asked.most)]


@tamis.operator(
    inputs=("loudness",),
    outputs=("n",),
    necessary=bounds,
    samples=[
        Sample("bounded(3, ?n)", LOUD, [7]),
        Sample("bounded(3, ?n), ?n < 9", LOUD, [7]),
        Sample("bounded(9, ?n)", LOUD, []),
    ],
)
def bounded(event: View, least: float, n: float) -> list[float]:
    loudness = a_number(event["loudness"])
    return [loudness] if loudness >= least else []


def larger(arguments: Sequence[Any], others: Sequence[Sequence[Any]]) -> Iterator[Implication]:
    for place, (level,) in enumerate(others):
        if level <= arguments[0]:
            yield Implication(True, place, True)


@tamis.operator(
    inputs=("loudness",),
    optional_inputs=("unit", "meta"),
    deterministic=True,
    solve_many=lambda event, lists: [is_louder(event, *each) for each in lists],
    implications=larger,
    samples=levels(
        "louder", Sample("louder(3)", {"loudness": 0.007, "unit": "k", "meta": {"a": [1]}}, True)
    ),
)
def louder(event: View, level: float) -> bool:
    return is_louder(event, level)


def is_louder(event: View, level: float) -> bool:
    return a_number(event["loudness"]) * (1_000 if event.get("unit") == "k" else 1) > level


WORDS = Preparation("words", lambda event: str(event["text"]).split(), inputs=("text",))
PAIRS = Preparation(
    "pairs", lambda event: list(itertools.pairwise(event.prepared)), inputs=(), after=WORDS
)


def a_word(word: Any, *after: Any) -> Sequence[Any]:
    if not word:
        raise tamis.ArgumentError("a word has letters")
    return [word.casefold(), *after]


@tamis.operator(
    preparation=PAIRS,
    inputs=(),
    outputs=("next", "place"),
    check=a_word,
    samples=[
        Sample("follows(a, ?next, ?place)", {"text": "a b a c"}, [("b", 0), ("c", 2)]),
        Sample("follows(A, ?next, ?place), ?place > 1", {"text": "a b a c"}, [("c", 2)]),
        Sample("follows(a, ?next, 0)", {"text": "a b a c"}, ["b"]),
        Sample("follows(z, ?next, ?place)", {"text": "a b"}, []),
    ],
)
def follows(event: Any, word: str, next: Variable, place: Variable) -> Iterator[tuple[str, int]]:
    for at, (one, other) in enumerate(event.prepared):
        if one == word:
            yield other, at


class Awaited(Operator):
    """Answers from a coroutine, made by a factory that is sent by its name."""

    specification = Specification("awaited", parameters=LEVEL, inputs=("loudness",), timeout=5)

    def __init__(self, scale: int) -> None:
        self.scale = scale

    async def solve(self, event: Any, level: float) -> bool:
        return a_number(event["loudness"]) * self.scale > level

    async def solve_many(  # type: ignore[override]
        self, event: Any, lists: Sequence[Sequence[Any]]
    ) -> Sequence[Any]:
        return [await self.solve(event, *each) for each in lists]

    def samples(self) -> Iterable[Sample]:
        return levels("awaited")


@tamis.operator(samples=[Sample("anything(1, ?x, red)", {"a": 1, "b": [2]}, ["a", "b"])])
def anything(event: View, *given: object) -> list[object] | bool:
    asked = sum(isinstance(each, Variable) for each in given)
    return [(name,) * asked for name in event] if asked else bool(event)


GOOD: list[object] = [
    louder,
    bounded,
    follows,
    OperatorRecord(Awaited.specification, functools.partial(Awaited, 1)),
    anything,
]


# what breaks one


def nothing() -> Any:
    return object()


@tamis.operator(inputs=("loudness",))
def unsampled(event: View, level: float) -> bool:
    return a_number(event["loudness"]) > level


@tamis.operator(inputs=("loudness",), samples=[Sample("neverThere(3)", {"sound": 3}, False)])
def neverThere(event: View, level: float) -> bool:
    return a_number(event["loudness"]) > level


@tamis.operator(inputs=("loudness",), samples=[Sample("wordy(3)", LOUD, True)])
def wordy(event: View, level: float) -> Any:
    return "yes"


@tamis.operator(inputs=(), outputs=("a", "b"), samples=[Sample("narrow(?a, ?b)", {}, [])])
def narrow(event: View, a: Variable, b: Variable) -> Any:
    return [(1, 2, 3)]


@tamis.operator(inputs=("loudness",), samples=[Sample("mistaken(3)", LOUD, False)])
def mistaken(event: View, level: float) -> bool:
    return a_number(event["loudness"]) > level


@tamis.operator(inputs=("loudness",), samples=[Sample("refusing(3)", LOUD)])
def refusing(event: View, level: float) -> bool:
    raise ValueError("no model")


ANSWERED: list[bool] = []


@tamis.operator(inputs=(), deterministic=True, samples=[Sample("chancy()", {})])
def chancy(event: View) -> bool:
    ANSWERED.append(True)
    return len(ANSWERED) % 2 == 0


class Remembering(Operator):
    """Says whether it is louder than at the event before."""

    specification = Specification("remembering", inputs=("loudness",))

    def __init__(self) -> None:
        self.current = self.before = 0.0

    def solve(self, event: Any) -> bool:
        value = a_number(event["loudness"])
        if value != self.current:
            self.before, self.current = self.current, value
        return self.current > self.before

    def samples(self) -> Iterable[Sample]:
        return [Sample("remembering()", {"loudness": value}) for value in (1, 3, 2, 5)]


@tamis.operator(
    inputs=("loudness",),
    samples=levels("backwards"),
    solve_many=lambda event, lists: [a_number(event["loudness"]) > at for (at,) in lists][::-1],
)
def backwards(event: View, level: float) -> bool:
    return a_number(event["loudness"]) > level


@tamis.operator(
    inputs=("loudness",),
    samples=levels("halting"),
    solve_many=lambda event, lists: [True],
)
def halting(event: View, level: float) -> bool:
    return a_number(event["loudness"]) > level


@tamis.operator(
    inputs=("loudness",),
    samples=levels("swapping"),
    solve_events=lambda events, lists: [
        a_number(event["loudness"]) > at for event, (at,) in zip(events, lists, strict=True)
    ][::-1],
)
def swapping(event: View, level: float) -> bool:
    return a_number(event["loudness"]) > level


@tamis.operator(
    inputs=("loudness",),
    samples=levels("skipping"),
    solve_events=lambda events, lists: [True],
)
def skipping(event: View, level: float) -> bool:
    return a_number(event["loudness"]) > level


class Kinds(Operator):
    """Takes strings for what it answers with numbers."""

    specification = Specification(
        "kinds",
        parameters=(Parameter("count", frozenset({STRING})),),
        inputs=("people",),
        outputs=("count",),
    )

    def solve(self, event: Any, count: Any) -> Any:
        return [event["people"]]

    def samples(self) -> Iterable[Sample]:
        return [Sample("kinds(?n)", {"people": 4}, [4])]


@tamis.operator(inputs=("loudness",), samples=levels("unkind"))
def unkind(event: View, level: Any) -> bool:
    return bool(a_number(event["loudness"]) > level)


def long_enough(word: Any) -> None:
    if not word.strip():
        raise tamis.ArgumentError("a word has letters")


@tamis.operator(inputs=("text",), check=long_enough, samples=[Sample("named(a)", {"text": "a"})])
def named(event: View, word: Any) -> bool:
    return bool(word == event["text"])


@tamis.operator(
    inputs=("text",),
    check=lambda letters: [iter(letters)],
    samples=[Sample("usedUp(ab)", {"text": "a"}, True)],
)
def usedUp(event: View, letters: str) -> bool:
    return event["text"] in list(letters)


@tamis.operator(inputs=("loudness",), samples=levels("peeking"))
def peeking(event: View, level: float) -> bool:
    return a_number(event["loudness"]) > level or event.get("camera") == "uav-1"


@tamis.operator(inputs=("loudness",), samples=levels("breakingIn"))
def breakingIn(event: Any, level: float) -> bool:
    return a_number(event["loudness"]) > level and bool(event._event)


PEEKED = Preparation("peeked", lambda event: event.get("camera"), inputs=("loudness",))


@tamis.operator(preparation=PEEKED, inputs=("loudness",), samples=levels("prying"))
def prying(event: View, level: float) -> bool:
    return a_number(event["loudness"]) > level


@tamis.operator(inputs=("tags",), samples=[Sample("sorting()", {"tags": [3, 1]}, False)])
def sorting(event: View) -> bool:
    with contextlib.suppress(TypeError):
        event["tags"].sort()
    return False


SCRATCH = Preparation("scratch", lambda event: {"seen": []}, inputs=())


@tamis.operator(preparation=SCRATCH, inputs=(), samples=[Sample("scribbling()", {}, True)])
def scribbling(event: Any) -> bool:
    event.prepared["seen"].append(1)
    return True


@tamis.operator(
    inputs=("loudness",),
    optional_inputs=("unit",),
    samples=[Sample("requiring(3)", {"loudness": 7, "unit": "dB"}, True)],
)
def requiring(event: View, level: float) -> bool:
    return a_number(event["loudness"]) > level and event["unit"] == "dB"


def smaller(arguments: Sequence[Any], others: Sequence[Sequence[Any]]) -> Iterator[Implication]:
    for place, (level,) in enumerate(others):
        if level >= arguments[0]:
            yield Implication(True, place, True)


@tamis.operator(
    inputs=("loudness",),
    necessary=lambda arguments: [("loudness", ">", arguments[0] + 1)],
    samples=levels("overclaiming"),
)
def overclaiming(event: View, level: float) -> bool:
    return a_number(event["loudness"]) > level


@tamis.operator(
    name="measured",
    inputs=("loudness",),
    outputs=("n",),
    necessary=lambda arguments: [("loudness", "<", getattr(arguments[0], "most", 1e9))],
    samples=[Sample("measured(?n)", LOUD, [7])],
)
def narrowing(event: View, n: Variable) -> list[float]:
    return [a_number(event["loudness"])]


@tamis.operator(
    inputs=("position",),
    necessary=lambda arguments: [("position.west", ">=", arguments[0])],
    samples=[Sample("boxing(3)", {"position": [4, 1]}, True)],
)
def boxing(event: View, degrees: float) -> bool:
    """Whether a point is east of a longitude, or nearly so."""
    if isinstance(event["position"], Mapping):
        raise ValueError("a position is a point")
    longitude, _ = event["position"]
    return a_number(longitude) >= degrees - 1e-4


@tamis.operator(inputs=("loudness",), implications=smaller, samples=levels("implying"))
def implying(event: View, level: float) -> bool:
    return a_number(event["loudness"]) > level


@tamis.operator(
    inputs=("loudness",),
    implications=lambda arguments, others: [Implication(True, len(others), True)],
    samples=levels("misplacing"),
)
def misplacing(event: View, level: float) -> bool:
    return a_number(event["loudness"]) > level


class Misnaming(Operator):
    specification = tamis.Specification(
        name="misnaming",
        parameters=(tamis.Parameter("tag", variable=True),),
        inputs=("tags",),
    )

    def solve(self, event: View, tag: object) -> Any:
        return event["tags"] if isinstance(tag, tamis.Variable) else tag in event["tags"]

    def in_solutions(self, arguments: Sequence[Any]) -> Sequence[Any]:
        return ["b"]

    def samples(self) -> Iterable[Sample]:
        yield Sample("misnaming(?x)", {"tags": ["a"]}, ["a"])


@tamis.operator(inputs=("loudness",), samples=levels("leaving"))
def leaving(event: View, level: float) -> bool:
    if not isinstance(event["loudness"], (int, float)):
        raise SystemExit(1)
    return event["loudness"] > level


@tamis.operator(inputs=("loudness",), samples=levels("printing"))
def printing(event: View, level: float) -> bool:
    if isinstance(event["loudness"], str):
        print("what is this?", event["loudness"])
    return a_number(event["loudness"]) > level


@tamis.operator(inputs=("loudness",), samples=levels("hanging"))
def hanging(event: View, level: float) -> bool:
    if event["loudness"] == "":
        time.sleep(60)
    return a_number(event["loudness"]) > level


def locked() -> Operator:
    lock = threading.Lock()

    @tamis.operator(inputs=("loudness",), samples=levels("tethered"))
    def tethered(event: View, level: float) -> bool:
        with lock:
            return a_number(event["loudness"]) > level

    return tethered


@tamis.operator(inputs=("number",), samples=[Sample("local()", {"number": os.getpid()})])
def local(event: View) -> bool:
    return bool(event["number"] == os.getpid())


BROKEN: dict[str, list[tuple[object, str]]] = {
    "made": [(OperatorRecord(Specification("hollow"), nothing), "the factory")],
    "samples": [(unsampled, "add some"), (neverThere, "inputs that it needs (loudness)")],
    "solutions": [(wordy, "expected a bool, got 'yes'"), (narrow, "expected 2 values")],
    "answers": [(mistaken, "expected   False"), (refusing, "ValueError: no model")],
    "deterministic": [(chancy, "asked again, it answers otherwise")],
    "stateless": [(Remembering, "after other events")],
    "batches": [(backwards, "otherwise than solve"), (halting, "expected 3 answers, got 1")],
    "events": [(swapping, "solve_events answers otherwise"), (skipping, "answers, got 1")],
    "outputs": [(Kinds, "count of kinds(?count) is a string")],
    "arguments": [(unkind, "not supported between"), (named, "bring down its check")],
    "check": [(usedUp, "used up or changed")],
    "inputs_declared": [
        (peeking, "solve reads 'camera'"),
        (breakingIn, "solve reads '_event'"),
        (prying, "the preparation peeked reads 'camera'"),
    ],
    "inputs_untouched": [(sorting, "the input 'tags'"), (scribbling, "event.prepared")],
    "optional_inputs": [(requiring, "without unit")],
    "implications": [(implying, "when implying(3) is True"), (misplacing, "by their place")],
    "wider": [(Misnaming, "do not say of misnaming(a)")],
    "necessary": [
        (overclaiming, "loudness is 4"),
        (narrowing, "measured(?n), ?n = 7 is true"),
        (boxing, "position.west is "),
    ],
    "failures": [
        (leaving, "SystemExit(1)"),
        (printing, "what is this?"),
        (hanging, "does not end"),
    ],
    "travels": [(locked(), "cannot be sent"), (local, "answers otherwise")],
    "listing": [],  # written by the test: it takes a module that imports too much
}
