"""Checks what comes from outside before anything is written: events, and subscriptions.

An event from outside names no file of the server and no address; the text of a subscription is
read and bound to operators as it will be, and all that is wrong with it is said at once.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from tamis.catalog import Catalog
from tamis.catalog.intake import Intake, delivered, id_of, key_doubts, where_of
from tamis.errors import EventError, SubscriptionError
from tamis.event import Event
from tamis.event.paths import CONTENT, SOURCES, form_of
from tamis.language.condition import Language
from tamis.language.durations import duration_seconds
from tamis.language.policies import policies_of
from tamis.server.changes import Webhook
from tamis.server.problems import HttpProblem, bad_subscription
from tamis.server.webhooks.addresses import Network
from tamis.server.webhooks.targets import webhook_of

if TYPE_CHECKING:
    from tamis.engine.forecasting import Forecast
    from tamis.matcher import Matcher

DAY = 24 * 3600.0
_LONGEST_ID = 200
_MOST_BESIDE = 64 * 1024
"""Bytes of JSON in a subscription beside its text: each match tells them."""
_NOT_KEPT = ("id", "validity")
_RESERVED = ("validity", "deliver", "webhook")
_NO_ID = ""
_WAYS = {
    "image": "a data: URI, or a file of multipart/form-data",
    "facts": "Turtle text",
    "sound": "a data: URI",
}
"""How an event from outside gives what is else a file."""


class CheckedSubscription(NamedTuple):
    """A subscription that can be taken."""

    id: str | None
    document: dict[str, Any]
    validity: float | None
    warnings: list[str]
    webhook: Webhook | None
    """Its secret is not in the document."""


def checked_event(document: object, at: int, *, several: bool) -> dict[str, Any]:
    """Returns the event that a document is, out of its envelope; a problem says what is wrong with
    it."""
    place = f"event {at + 1}: " if several else ""
    try:
        event = Event.of(document, lambda: _NO_ID)
        content = dict(event.content)
        if event.id == _NO_ID:
            content.pop("id", None)
            if document_id(document) == _NO_ID:
                raise EventError("the id of an event is not empty")
        else:
            content["id"] = event.id
            _check_id(event.id)
        for name in SOURCES:
            _check_source(name, event.value(name))
        json.dumps(content)
    except EventError as bad:
        raise HttpProblem("bad-event", f"{place}{bad}", event=at) from None
    except RecursionError:
        raise HttpProblem("bad-event", f"{place}nested too deep", event=at) from None
    return content


def document_id(document: object) -> object:
    """Returns the id that a document says, if any."""
    return document.get("id") if isinstance(document, Mapping) else None


def _check_id(id: str) -> None:
    if len(id) > _LONGEST_ID:
        raise EventError(f"an id has {_LONGEST_ID} letters at most, and this one {len(id):,}")
    if not id.isprintable():  # lone surrogates too, which no file can hold
        raise EventError(f"an id is made of printable letters, not {id!r:.80}")


def _check_source(name: str, value: object) -> None:
    """Refuses what would make an operator open a file, or ask somebody."""
    if form_of(name, value) != CONTENT:
        raise EventError(
            f"{name} is {str(value)!r:.80}, and an event from outside names no file and no "
            f"address: send {_WAYS[name]}"
        )


def checked_subscription(
    entry: Mapping[str, Any],
    matcher: Matcher,
    *,
    default: float | None = DAY,
    networks: tuple[Network, ...] = (),
) -> CheckedSubscription:
    """Returns the subscription that a body asks for; a problem with all that is wrong with it.

    Its webhook may be in the networks, or at an address that is open to everybody."""
    found: list[SubscriptionError] = []
    try:
        id, where = id_of(entry), where_of(entry, None)
        if id is not None:
            check_subscription_id(id)
    except SubscriptionError as bad:
        raise bad_subscription([bad]) from None
    validity = default
    try:
        validity = validity_of(entry.get("validity"), default)
    except SubscriptionError as bad:
        found.append(bad)
    document = {name: value for name, value in entry.items() if name not in _NOT_KEPT}
    beside = len(json.dumps({**document, "where": None}))
    if beside > _MOST_BESIDE:
        found.append(
            SubscriptionError(
                f"a subscription has {_MOST_BESIDE:,} bytes of JSON at most beside its text, and "
                f"this one has {beside:,}"
            )
        )
    webhook = None
    try:
        if document.pop("webhook", None) is not None:
            webhook = webhook_of(entry["webhook"], networks)
            document["webhook"] = {"url": webhook.url}
    except SubscriptionError as bad:
        found.append(bad)
    intake = Intake(Language(matcher.limits), matcher.operators, Catalog())
    examined = intake.examined(where, intake.resolver())
    found += examined.errors
    warnings: list[str] = []
    try:
        if examined.condition is not None:
            delivered(document, examined.condition)
        elif document.get("deliver") is not None:
            policies_of(document["deliver"], None)
        if not found:
            [taken] = intake.accept([document if id is None else {"id": id, **document}], False)
            warnings = [str(each) for each in taken.warnings]
            warnings += (f"this {each.problem}" for each in key_doubts(entry, _RESERVED))
    except SubscriptionError as bad:
        found.append(bad)
    if found:
        raise bad_subscription(found)
    return CheckedSubscription(id, document, validity, warnings, webhook)


def forecast_of(matcher: Matcher, where: str) -> Forecast:
    """Forecasts what a text adds that was checked; a problem where an operator was refreshed since
    and refuses it."""
    try:
        return matcher.forecast(where)
    except SubscriptionError as bad:
        raise bad_subscription([bad]) from None


def check_subscription_id(id: str) -> None:
    """Refuses an id that would stand badly in an address."""
    if len(id) > _LONGEST_ID or not id.isprintable() or "/" in id or id in (".", ".."):
        raise SubscriptionError(
            f"the id of a subscription has up to {_LONGEST_ID} printable letters and no '/', and "
            f"this is {id!r:.80}"
        )


def validity_of(value: object, default: float | None = DAY) -> float | None:
    """Returns the seconds of a validity, which is that of a day where none is said."""
    if value is None:
        return default
    try:
        seconds: Fraction = duration_seconds(value)
    except ValueError as bad:
        raise SubscriptionError(f"validity: {bad}") from None
    return float(seconds)
