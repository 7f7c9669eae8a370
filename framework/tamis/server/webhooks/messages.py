"""Makes what is sent to a webhook: a CloudEvent, signed as Standard Webhooks says.

The id is that of the delivery, and the body the same, however often it is sent; the time and with
it the signature are those of the attempt. While a secret gives way to another, both sign.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any
from urllib.parse import quote

from tamis.server.json_answers import json_content
from tamis.server.webhooks.targets import secret_bytes

TYPE = "tamis."
"""How the types of the CloudEvents begin; the kind of the delivery follows."""
_KIND = "application/cloudevents+json; charset=utf-8"


def body_of(subscription: str, record: Mapping[str, Any]) -> bytes:
    """Returns the CloudEvent of a delivery."""
    data = {name: value for name, value in record.items() if name not in ("id", "type")}
    at = record["time"]
    envelope: dict[str, Any] = {
        "specversion": "1.0",
        "id": record["id"],
        "source": f"/subscriptions/{quote(subscription, safe='')}",
        "type": TYPE + record["type"],
    }
    if record["event"] is not None:
        envelope["subject"] = record["event"]
    if at is not None and "T" in at:  # not a year that calendars do not reach
        envelope["time"] = envelope["timestamp"] = at
    envelope |= {"datacontenttype": "application/json"}
    return json_content({**envelope, "data": {"subscription": subscription, **data}})


def signature(secret: str, id: str, at: int, body: bytes) -> str:
    """Returns the signature of a message under a secret."""
    signed = b".".join((id.encode(), str(at).encode(), body))
    made = hmac.new(secret_bytes(secret), signed, hashlib.sha256).digest()
    return f"v1,{base64.b64encode(made).decode()}"


def headers_of(secrets: Sequence[str], id: str, at: int, body: bytes) -> dict[str, str]:
    """Returns the headers of a message at a time."""
    return {
        "Content-Type": _KIND,
        "User-Agent": f"tamis/{version('tamis')}",
        "webhook-id": id,
        "webhook-timestamp": str(at),
        "webhook-signature": " ".join(signature(each, id, at, body) for each in secrets),
    }
