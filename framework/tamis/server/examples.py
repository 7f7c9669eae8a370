"""Shows in OpenAPI what requests look like, and what they need."""

from __future__ import annotations

from typing import Any

_BEARER = {
    "name": "Authorization",
    "in": "header",
    "required": True,
    "schema": {"type": "string"},
    "example": "Bearer TICKET",
}
_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "schema": {"type": "string", "minLength": 1, "maxLength": 255},
}
_VALIDITY = {
    "oneOf": [{"type": "number", "exclusiveMinimum": 0}, {"type": "string"}],
    "description": "Seconds, or text as 10min or PT10M; a day where nothing is said.",
}


def _json(schema: dict[str, Any], example: object, *, required: bool = True) -> dict[str, Any]:
    content = {"application/json": {"schema": schema, "example": example}}
    return {"requestBody": {"required": required, "content": content}}


_SUBSCRIPTION = {
    "type": "object",
    "required": ["where"],
    "properties": {
        "where": {"type": "string"},
        "id": {"type": "string", "minLength": 1, "maxLength": 200},
        "validity": _VALIDITY,
        "webhook": {
            "oneOf": [
                {"type": "string", "format": "uri"},
                {
                    "type": "object",
                    "required": ["url"],
                    "properties": {
                        "url": {"type": "string", "format": "uri"},
                        "secret": {"type": "string", "pattern": "^whsec_"},
                    },
                },
            ]
        },
        "deliver": {"oneOf": [{"type": "object"}, {"type": "array", "items": {"type": "object"}}]},
    },
}
_WANTED = {"where": "speed > 60km/h and camera in {c1, c2}", "deliver": {"cooldown": "10min"}}
_EVENT = {"id": "e1", "time": "2026-01-15T12:00:00Z", "camera": "c1", "speed": 20}

_PROBLEM = {
    "type": "object",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string", "format": "uri"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
    },
}
PROBLEMS: dict[int | str, dict[str, Any]] = {
    name: {
        "description": about,
        "content": {"application/problem+json": {"schema": _PROBLEM}},
    }
    for name, about in (("4XX", "What is wrong with the request"), ("5XX", "What keeps the server"))
}
"""What every address may answer."""


UNWELL: dict[int | str, dict[str, Any]] = {
    503: {
        "description": "Not now",
        "content": {"application/json": {"schema": {"type": "object"}}},
    }
}


def other(*kinds: str) -> dict[int | str, dict[str, Any]]:
    """Returns an answer that is of other kinds than JSON."""
    content = {kind: {"schema": {"type": "string"}} for kind in kinds}
    return {200: {"description": "Found", "content": content}}


TICKET: dict[str, Any] = {"parameters": [_BEARER]}
ADMIN: dict[str, Any] = {"parameters": [{**_BEARER, "example": "Bearer ADMIN-KEY"}]}
CHANGE: dict[str, Any] = {"parameters": [_BEARER, _KEY]}
SUBSCRIBE = {"parameters": [_KEY], **_json(_SUBSCRIPTION, {"id": "fast", **_WANTED})}
REPLACE = {**TICKET, **_json(_SUBSCRIPTION, _WANTED)}
RENEW = {
    **CHANGE,
    **_json(
        {"type": "object", "properties": {"validity": _VALIDITY}},
        {"validity": "PT1H"},
        required=False,
    ),
}
ACKNOWLEDGE = {
    **CHANGE,
    **_json(
        {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}},
        {"id": "1-3"},
    ),
}
EVALUATE = {
    **CHANGE,
    **_json(
        {"type": "object", "properties": {"event": {"type": "string"}}},
        {"event": "e1"},
        required=False,
    ),
}
ROTATE = {
    **CHANGE,
    **_json(
        {
            "type": "object",
            "properties": {"secret": {"type": "string"}, "overlap": _VALIDITY},
        },
        {"overlap": "PT12H"},
        required=False,
    ),
}
_EVENTS = {"oneOf": [{"type": "object"}, {"type": "array", "items": {"type": "object"}}]}
PUBLISH: dict[str, Any] = {"parameters": [_KEY], **_json(_EVENTS, _EVENT)}
PUBLISH["requestBody"]["content"] |= {
    "application/x-ndjson": {"schema": {"type": "string"}},
    "application/cloudevents+json": {"schema": {"type": "object"}},
    "application/cloudevents-batch+json": {
        "schema": {"type": "array", "items": {"type": "object"}}
    },
    "multipart/form-data": {
        "schema": {
            "type": "object",
            "properties": {
                "event": {"type": "object"},
                "image": {"type": "string", "format": "binary"},
            },
        }
    },
}
