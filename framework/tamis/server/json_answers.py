"""Answers with JSON that every reader takes, whatever subscriptions and events hold.

A number beyond every double is written as one, NaN as null, and a lone surrogate, which UTF-8 does
not have, stays escaped: no text of one subscriber keeps another answer from being written.
"""

from __future__ import annotations

from starlette.responses import Response

from tamis.files.writing import json_text


def json_content(value: object) -> bytes:
    """Returns the value as JSON in UTF-8."""
    return json_text(value).encode(errors="backslashreplace")


class JsonResponse(Response):
    """An answer of JSON."""

    media_type = "application/json"

    def render(self, content: object) -> bytes:
        """Returns the body of the answer."""
        return json_content(content)
