"""Answers with JSON that every reader takes, whatever subscriptions and events hold.

A number beyond every double is written as one, NaN as null, and a lone surrogate, which UTF-8 does
not have, stays escaped: no text of one subscriber keeps another answer from being written. So
do the ends of lines that JSON lets stand in its texts, at which readers of streams break lines.
"""

from __future__ import annotations

from starlette.responses import Response

from tamis.files.writing import json_text

_LINE_ENDS = {ord(each): f"\\u{ord(each):04x}" for each in "\x85\u2028\u2029"}
"""Those of `str.splitlines` that JSON does not escape."""


def json_content(value: object) -> bytes:
    """Returns the value as JSON in UTF-8, which is one line to whoever reads it."""
    text = json_text(value)
    if not text.isascii():
        text = text.translate(_LINE_ENDS)
    return text.encode(errors="backslashreplace")


class JsonResponse(Response):
    """An answer of JSON."""

    media_type = "application/json"

    def render(self, content: object) -> bytes:
        """Returns the body of the answer."""
        return json_content(content)
