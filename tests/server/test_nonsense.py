"""Whatever is asked, the answer is an answer or a problem document, and never a failure."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.server.conftest import Client

_ADDRESSES = (
    *(("POST", "/subscriptions"), ("PUT", "/subscriptions/known"), ("GET", "/subscriptions/known")),
    *(("POST", "/subscriptions/known/renew"), ("POST", "/subscriptions/known/ack")),
    *(("GET", "/subscriptions/known/matches?wait=0"), ("POST", "/events"), ("GET", "/nowhere")),
    *(
        ("POST", "/events?wait=true"),
        ("DELETE", "/subscriptions/unknown"),
        ("POST", "/events?wait=x"),
    ),
)
_NAMES = st.sampled_from(
    [
        "where",
        "id",
        "validity",
        "deliver",
        "image",
        "facts",
        "time",
        "position",
        "specversion",
        "data",
        "event",
        "a",
        "cooldown",
        "per",
        "for",
        "webhook",
    ]
)
_SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text()
    | st.sampled_from(["a > 3", "peopleCount(?n), ?n > 2", "P1D", "1h", "data:,x", "a.ttl", "1-1"])
)  # fmt: skip
_JSON = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(_NAMES | st.text(), inner, max_size=5)
    ),
    max_leaves=12,
)
_BODIES = _JSON.map(lambda value: json.dumps(value).encode()) | st.binary(max_size=60)
_HEADERS = st.fixed_dictionaries(
    {},
    optional={
        "content-type": st.sampled_from(
            (
                *("application/json", "multipart/form-data", "multipart/form-data; boundary=x"),
                *("application/x-ndjson", "text/plain; charset=nowhere", ""),
            )
        ),
        "idempotency-key": st.sampled_from(["", "k", "x" * 300]),
        "last-event-id": st.sampled_from(["", "1-0", "9-9", "x", "1-" + "9" * 30]),
        "ce-specversion": st.just("1.0"),
    },
)
_TICKETS: list[dict[str, str]] = []


@settings(deadline=None, max_examples=300)
@given(st.sampled_from(_ADDRESSES), _BODIES, _HEADERS, st.booleans())
def test_no_request_makes_the_server_fail(
    client: Client, address: tuple[str, str], body: bytes, headers: dict[str, Any], has_ticket: bool
) -> None:
    if not _TICKETS:
        _TICKETS.append(
            client.subscribed("peopleCount(?n), ?n > 1", id="known", validity=10_000)[1]
        )
    method, path = address
    ticket = _TICKETS[0] if has_ticket else {}
    answer = client.request(method, path, content=body, headers={**headers, **ticket})
    assert answer.status_code < 500, answer.text
    if answer.status_code >= 400:
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["type"].startswith("urn:tamis:problem:")
    assert client.get("/readyz").status_code == 200
