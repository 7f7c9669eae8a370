"""Recognizes what reference pictures show on a frame, seen from anywhere near.

Points of the frame and of the reference are paired by what they look like, and enough pairs have
to agree on one view of the reference (`verification`): turned, smaller or larger, from the side,
partly covered, darker or noisy. Frames and references are compared at 640 pixels; a reference
should fill at least a fifth of the frame's width. Invariant: the same frame and reference give the
same answer, whatever else is asked with them. Cost: the features once an event, then about 6 ms a
reference.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from tamis import ArgumentError, Operator, Parameter, Sample, Specification, Variable
from tamis.kit import STRING
from tamis_operators.image.gray import EXTRA, FEATURES, MODULES
from tamis_operators.image.pictures import Gallery, NamedPicture, digest_of

if TYPE_CHECKING:
    from tamis_operators.image.features import Features

LEAST_FEATURES = 24
"""A reference with fewer points would be recognized by chance."""


def specification(pictures: Iterable[NamedPicture] = ()) -> Specification:
    """Specifies `looksLike` over these pictures."""
    return Specification(
        name="looksLike",
        version=f"1-{digest_of(pictures)}",
        description="Whether the frame shows what a reference picture shows.",
        parameters=(Parameter("reference", frozenset({STRING}), variable=True),),
        inputs=("image",),
        cost_seconds=0.006,
        marginal_cost_seconds=0.005,
        deterministic=True,
        preparation=FEATURES,
        extra=EXTRA,
        modules=MODULES,
    )


class Reference(NamedTuple):
    """A picture to recognize: its name, and its features."""

    name: str
    features: Features


class LooksLike(Operator):
    """`looksLike(reference)`."""

    def __init__(self, pictures: Sequence[NamedPicture] = ()) -> None:
        self.specification = specification(pictures)
        self._gallery = Gallery(pictures)
        self._features: dict[str, Features] = {}

    def check(self, *arguments: Any) -> Sequence[object]:
        """Returns features of the reference; refuses an unknown picture, or one with too few."""
        (name,) = arguments
        return (name if isinstance(name, Variable) else self._reference(name),)

    def _reference(self, name: str) -> Reference:
        features = self._features.get(name)
        if features is None:
            features = self._features[name] = self._described(name)
        return Reference(name, features)

    @cached_property
    def _references(self) -> list[Reference]:
        """All pictures that can be recognized."""
        found = []
        for name in self._gallery.frames:
            with suppress(ArgumentError):  # too plain: refused where it is named
                found.append(self._reference(name))
        return found

    def _described(self, name: str) -> Features:
        from tamis_operators.image.features import features_of

        features = features_of(self._gallery.gray(name))
        if len(features) < LEAST_FEATURES:
            raise ArgumentError(
                f"the picture {name} has {len(features)} points to recognize it by, and needs "
                f"{LEAST_FEATURES}: take one that is larger, sharper or less plain"
            )
        return features

    def solve_many(self, event: Any, lists: Sequence[Sequence[Any]]) -> list[bool | list[str]]:
        """Returns whether references are there; with a variable, the names of those that are.

        All of them are paired in one product."""
        from tamis_operators.image.verification import agreeing, paired

        frame, asked = event.prepared, [each for (each,) in lists]
        named = {each.name: each.features for each in asked if isinstance(each, Reference)}
        whole: dict[str, Features] = {}
        if any(isinstance(each, Variable) for each in asked):
            whole = {each.name: each.features for each in self._references}
        references = whole | named
        pairs = paired(frame, list(references.values())) if references else []
        shown = {
            name: agreeing(frame, features, each) > 0
            for (name, features), each in zip(references.items(), pairs, strict=True)
        }
        all_shown = [name for name in whole if shown[name]]
        return [shown[each.name] if isinstance(each, Reference) else all_shown for each in asked]

    def in_solutions(self, arguments: Sequence[Any]) -> Sequence[Any]:
        """Returns the name of the picture."""
        return tuple(each.name if isinstance(each, Reference) else None for each in arguments)

    def samples(self) -> Iterable[Sample]:
        """Yields each picture, upright and upside down, and the plain wall."""
        import numpy

        wall = numpy.full((120, 160, 3), 90, numpy.uint8)
        for name, frame in list(self._gallery.frames.items())[:3]:
            try:
                self.check(name)
            except ArgumentError:
                continue
            word = f'looksLike("{name}")'
            yield Sample(word, {"image": frame}, True)
            yield Sample(word, {"image": numpy.ascontiguousarray(frame[::-1, ::-1])}, True)
            yield Sample(word, {"image": wall}, False)
            known = [name] if len(self._references) == 1 else ...
            yield Sample("looksLike(?reference)", {"image": frame}, known)
