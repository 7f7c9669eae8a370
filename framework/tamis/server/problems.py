"""Says what is wrong with a request, as the problem documents of RFC 9457."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from tamis.errors import SubscriptionError
from tamis.server import errors
from tamis.server.json_answers import JsonResponse

MEDIA_TYPE = "application/problem+json"
_TYPE = "urn:tamis:problem:"
TITLES = {
    "malformed": (400, "The request cannot be read"),
    "bad-event": (400, "This is not an event that can be taken"),
    "ticket-required": (401, "This needs the ticket of the subscription"),
    "key-refused": (401, "This needs a key of the server"),
    "wrong-key": (403, "This is not the key of the server"),
    "other-site": (403, "A page of another site asked for this"),
    "wrong-ticket": (403, "This is not the ticket of the subscription"),
    "not-found": (404, "There is nothing here"),
    "method-not-allowed": (405, "This cannot be done here"),
    "too-slow": (408, "The request comes too slowly"),
    "id-taken": (409, "The id is taken"),
    "other-content": (409, "The id is that of another event"),
    "in-progress": (409, "A request of this key is in progress"),
    "too-large": (413, "The request is too large"),
    "bad-subscription": (422, "The subscription cannot be taken"),
    "key-used": (422, "The Idempotency-Key was used for another request"),
    "overloaded": (429, "The server has more to do than it can hold"),
    "failed": (500, "The server has failed"),
    "not-ready": (503, "The server is not ready"),
}
"""The status and the title of each type of problem."""


class HttpProblem(Exception):
    """A request that is refused, and why."""

    def __init__(
        self,
        name: str,
        detail: str,
        *,
        headers: Mapping[str, str] | None = None,
        **more: object,
    ) -> None:
        super().__init__(detail)
        self.name = name
        self.detail = detail
        self.status, self.title = TITLES[name]
        self.headers = dict(headers or {})
        self.more = more

    def document(self) -> dict[str, Any]:
        """Returns the problem as its document says it."""
        known = {"type": _TYPE + self.name, "title": self.title, "status": self.status}
        return {**known, "detail": self.detail, **self.more}

    def response(self) -> Response:
        """Returns the answer to the request."""
        return JsonResponse(self.document(), self.status, self.headers, media_type=MEDIA_TYPE)


def overloaded(detail: str, after_seconds: float = 1.0) -> HttpProblem:
    """Returns the problem of a server that has too much to do."""
    headers = {"Retry-After": str(max(1, round(after_seconds)))}
    return HttpProblem("overloaded", detail, headers=headers)


def bad_subscription(found: list[SubscriptionError]) -> HttpProblem:
    """Returns the problem of a subscription with errors, all at once, each with its place."""
    listed = [
        {
            "detail": each.problem,
            "line": each.line,
            "column": each.column,
            "excerpt": each.excerpt() or None,
        }
        for each in found
    ]
    return HttpProblem(
        "bad-subscription", "\n".join(str(each.of(None)) for each in found), errors=listed
    )


_REFUSALS: dict[type[errors.Refusal], str] = {
    errors.IdTaken: "id-taken",
    errors.UnknownSubscription: "not-found",
    errors.UnknownDelivery: "malformed",
    errors.UnknownWebhook: "not-found",
    errors.OtherContent: "other-content",
    errors.OtherRequest: "key-used",
}


def problem_of(refusal: errors.Refusal) -> HttpProblem:
    """Returns the problem that a refusal of the log is."""
    if isinstance(refusal, errors.Overload):
        return overloaded(str(refusal), refusal.after_seconds)
    return HttpProblem(_REFUSALS[type(refusal)], str(refusal))
