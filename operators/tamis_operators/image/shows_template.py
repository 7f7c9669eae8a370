"""Finds a template on a frame: a sign, a logo, a marking, much as it is in its picture.

For what has too few points for `looksLike` and is seen straight on: from half to twice its own size
in pixels, and turned by at most 15 degrees. Light, contrast and colors do not count (`templates`).
Frames are looked at no larger than 1,280 pixels, templates shrunk with them. Cost: 15 to 100 ms.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tamis import ArgumentError, Operator, Parameter, Sample, Specification
from tamis.kit import STRING
from tamis_operators.image.gray import EXTRA, GRAY, MODULES
from tamis_operators.image.pictures import Gallery, NamedPicture, digest_of

if TYPE_CHECKING:
    from tamis_operators.image.templates import Template


def specification(pictures: Iterable[NamedPicture] = ()) -> Specification:
    """Specifies `showsTemplate` over these pictures."""
    return Specification(
        name="showsTemplate",
        version=f"1-{digest_of(pictures)}",
        description="Whether the frame shows a template, nearly upright and about its own size.",
        parameters=(Parameter("name", frozenset({STRING})),),
        inputs=("image",),
        cost_seconds=0.04,
        deterministic=True,
        preparation=GRAY,
        extra=EXTRA,
        modules=MODULES,
    )


class ShowsTemplate(Operator):
    """`showsTemplate(name)`."""

    def __init__(self, pictures: Sequence[NamedPicture] = ()) -> None:
        self.specification = specification(pictures)
        self._gallery = Gallery(pictures)
        self._templates: dict[str, Template] = {}

    def check(self, *arguments: Any) -> Sequence[object]:
        """Returns the template; refused when there is no such picture, or when it is too plain."""
        from tamis_operators.image.templates import template_of

        (name,) = arguments
        template = self._templates.get(name)
        if template is None:
            gray = self._gallery.gray(name)
            try:
                template = self._templates[name] = template_of(gray)
            except ValueError as problem:
                raise ArgumentError(f"the picture {name} {problem}") from None
        return (template,)

    def solve(self, event: Any, *arguments: Any) -> bool:
        """Returns whether the template is there."""
        from tamis_operators.image.templates import shows

        (template,) = arguments
        return shows(event.prepared, template)

    def samples(self) -> Iterable[Sample]:
        """Yields each picture on a plain wall, and the wall alone."""
        import numpy

        for name, frame in list(self._gallery.frames.items())[:3]:
            try:
                self.check(name)
            except ArgumentError:
                continue
            word = f'showsTemplate("{name}")'
            wall = numpy.full((frame.shape[0] + 100, frame.shape[1] + 140, 3), 90, numpy.uint8)
            yield Sample(word, {"image": wall}, False)
            shown = wall.copy()
            shown[40 : 40 + frame.shape[0], 60 : 60 + frame.shape[1]] = frame
            yield Sample(word, {"image": shown}, True)
