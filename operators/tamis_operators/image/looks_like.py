"""Recognizes what a reference picture shows on a frame, seen from anywhere near.

Points of the frame and of the reference are paired by what they look like, and enough pairs have
to agree on one view of the reference (`verification`): turned, smaller or larger, from the side,
partly covered, darker or noisy. Frames and references are compared at 640 pixels; a reference
should fill at least a fifth of the frame's width. Invariant: the same frame and reference give the
same answer, whatever else is asked with them. Cost: the features once an event, then about 6 ms a
reference.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tamis import ArgumentError, Operator, Parameter, Sample, Specification
from tamis.kit import STRING
from tamis_operators.image.gray import EXTRA, FEATURES, MODULES
from tamis_operators.image.pictures import Gallery, Picture, digest_of

if TYPE_CHECKING:
    from tamis_operators.image.features import Features

LEAST_FEATURES = 24
"""A reference with fewer points would be recognized by chance."""


def specification(pictures: Iterable[Picture] = ()) -> Specification:
    """What is known of `looksLike` over these pictures."""
    return Specification(
        name="looksLike",
        version=f"1-{digest_of(pictures)}",
        description="Whether the frame shows what a reference picture shows.",
        parameters=(Parameter("reference", frozenset({STRING})),),
        inputs=("image",),
        cost_seconds=0.006,
        marginal_cost_seconds=0.005,
        deterministic=True,
        preparation=FEATURES,
        extra=EXTRA,
        modules=MODULES,
    )


class LooksLike(Operator):
    """`looksLike(reference)`."""

    def __init__(self, pictures: Sequence[Picture] = ()) -> None:
        self.specification = specification(pictures)
        self._gallery = Gallery(pictures)
        self._features: dict[str, Features] = {}

    def check(self, *arguments: Any) -> Sequence[object]:
        """The features of the reference; refused when there is no such picture, or too little."""
        (name,) = arguments
        features = self._features.get(name)
        if features is None:
            features = self._features[name] = self._described(name)
        return (features,)

    def _described(self, name: str) -> Features:
        from tamis_operators.image.features import features_of

        features = features_of(self._gallery.gray(name))
        if len(features) < LEAST_FEATURES:
            raise ArgumentError(
                f"the picture {name} has {len(features)} points to recognize it by, and needs "
                f"{LEAST_FEATURES}: take one that is larger, sharper or less plain"
            )
        return features

    def solve(self, event: Any, *arguments: Any) -> bool:
        """Whether the reference is there."""
        return self.solve_many(event, [arguments])[0]

    def solve_many(self, event: Any, lists: Sequence[Sequence[Any]]) -> list[bool]:
        """The same for several references; they are paired in one product."""
        from tamis_operators.image.verification import agreeing, paired

        frame = event.prepared
        references = [reference for (reference,) in lists]
        pairs = paired(frame, references)
        return [
            agreeing(frame, reference, each) > 0
            for reference, each in zip(references, pairs, strict=True)
        ]

    def samples(self) -> Iterable[Sample]:
        """Each picture shows itself, upside down too, and not the plain wall."""
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
