"""Answers for subscriptions: subscribe, replace, renew, unsubscribe, and how one stands."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from tamis.errors import SubscriptionError
from tamis.server import changes, examples
from tamis.server.backtest import MOST_CALLS, MOST_LISTED, BacktestBounds, Backtests, time_of
from tamis.server.bodies import object_of
from tamis.server.checks import (
    DAY,
    CheckedSubscription,
    checked_subscription,
    forecast_of,
    validity_of,
)
from tamis.server.json_answers import JsonResponse
from tamis.server.matching import shown_time
from tamis.server.problems import HttpProblem, bad_subscription
from tamis.server.reading import DeliveryStanding, delivery_id
from tamis.server.service import Service, idempotency_key
from tamis.server.tickets import hash_of_ticket, new_ticket, sealed, unsealed

MOST_SHOWN = 1_000_000
_TAGS: list[Any] = ["subscriptions"]


def shown_end(expires: float | None) -> str | None:
    """Returns the end of a subscription as it is told."""
    return None if expires is None else shown_time(expires)


def routes(service: Service) -> APIRouter:
    """Returns the addresses of subscriptions."""
    router = APIRouter(tags=_TAGS)
    _add_subscribe(router, service)
    _add_replace(router, service)
    _add_life(router, service)
    _add_shown(router, service)
    return router


def _add_subscribe(router: APIRouter, service: Service) -> None:
    backtests = Backtests(service)

    @router.post(
        "/subscriptions",
        status_code=201,
        openapi_extra=examples.SUBSCRIBE,
        responses={200: {"description": "What a dry run found"}},
    )
    async def subscribe(
        request: Request,
        dry_run: bool = False,
        since: str | None = None,
        calls: Annotated[int, Query(ge=0, le=MOST_CALLS)] = 0,
        limit: Annotated[int, Query(ge=0, le=MOST_LISTED)] = 100,
        forecast: bool = True,
    ) -> Response:
        """Subscribe: the answer holds the ticket, which is told this once. With `dry_run=true`
        nothing is kept: what it would have matched since a time, from the answers that are kept
        and so many `calls` at most, and what it would add. Who makes many subscriptions leaves the
        forecast of each out, which decides known events anew: `forecast=false`."""
        if since is not None and not dry_run:
            raise HttpProblem("malformed", "since is of a dry run: dry_run=true")
        body = await service.body_of(request)
        matcher, entry = service.matching.matcher, object_of(body)
        wanted = await service.read(_checked, service, entry, DAY)
        if dry_run:
            first = None if since is None else time_of(service, since)
            tried = await service.read(backtests.tried, wanted, BacktestBounds(first, calls, limit))
            return JsonResponse(tried)
        foreseen = None
        if forecast:
            foreseen = await service.read(forecast_of, matcher, wanted.document["where"])
        ticket, key = new_ticket(), idempotency_key(request)
        change = changes.Subscribe(
            wanted.document,
            hash_of_ticket(ticket),
            wanted.id,
            wanted.validity,
            None if key is None else sealed(ticket, key),
            wanted.webhook,
            service.has_room(),
        )
        subscribed = await service.asked(request, body, change)
        if key is not None and subscribed.sealed is not None:
            ticket = unsealed(subscribed.sealed, key)
        answer: dict[str, Any] = {
            "id": subscribed.id,
            "ticket": ticket,
            "expires": shown_end(subscribed.expires),
        }
        if foreseen is not None:
            answer["forecast"] = foreseen.as_dict()
        answer |= _told(service, wanted, subscribed)
        return JsonResponse(answer, 201, {"Location": f"/subscriptions/{quote(subscribed.id, '')}"})


def _add_replace(router: APIRouter, service: Service) -> None:
    @router.put("/subscriptions/{id}", openapi_extra=examples.REPLACE)
    async def replace(request: Request, id: str) -> Response:
        """Replace text and policy at once; cursor and ticket stay, and a policy that is equal."""
        standing = await service.standing_of(request, id)
        entry = object_of(await service.body_of(request))
        if entry.get("id", id) != id:
            raise HttpProblem("malformed", f"the id of {id!r} stays: leave it out")
        matcher = service.matching.matcher
        wanted = await service.read(_checked, service, entry, None)
        forecast = await service.read(forecast_of, matcher, wanted.document["where"])
        replaced = await service.submit(
            changes.Replace(standing.born, wanted.document, wanted.validity, wanted.webhook)
        )
        answer = {"id": id, "expires": shown_end(replaced.expires), "forecast": forecast.as_dict()}
        return JsonResponse(answer | _told(service, wanted, replaced))


def _add_life(router: APIRouter, service: Service) -> None:
    """Adds how subscriptions go on, and how they end."""

    @router.post("/subscriptions/{id}/renew", openapi_extra=examples.RENEW)
    async def renew(request: Request, id: str) -> Response:
        """Let it live for so long from now: a day where nothing is said."""
        standing = await service.standing_of(request, id)
        body = await service.body_of(request)
        try:
            validity = validity_of(object_of(body).get("validity"))
        except SubscriptionError as bad:
            raise bad_subscription([bad]) from None
        renewed = await service.asked(request, body, changes.Renew(standing.born, validity))
        return JsonResponse({"id": id, "expires": shown_end(renewed.expires)})

    @router.delete("/subscriptions/{id}", status_code=204, openapi_extra=examples.TICKET)
    async def unsubscribe(request: Request, id: str) -> Response:
        """End it, with what was not delivered."""
        standing = await service.standing_of(request, id)
        await service.submit(changes.Unsubscribe(standing.born))
        return Response(status_code=204)


def _add_shown(router: APIRouter, service: Service) -> None:
    @router.get("/subscriptions/{id}", openapi_extra=examples.TICKET)
    async def show(request: Request, id: str) -> Response:
        """Show it: what it says, when it ends, and how its deliveries stand."""
        return JsonResponse(shown(await service.standing_of(request, id, for_admin=True)))

    @router.get("/subscriptions", openapi_extra=examples.ADMIN)
    async def show_all(
        request: Request,
        words: str = "",
        limit: Annotated[int, Query(ge=1, le=MOST_SHOWN)] | None = None,
    ) -> Response:
        """List all subscriptions, or the first ones whose id or text has some words, with the
        admin key."""
        service.check_admin(request)
        most = -1 if limit is None else limit
        found = await service.read(service.log.reading.standings, words, most)
        return JsonResponse([shown(each) for each in found])


def _checked(
    service: Service, entry: dict[str, Any], validity: float | None
) -> CheckedSubscription:
    networks = service.settings.webhooks.networks
    matcher = service.matching.matcher
    return checked_subscription(entry, matcher, default=validity, networks=networks)


def _told(
    service: Service, wanted: CheckedSubscription, subscribed: changes.LoggedSubscription
) -> dict[str, Any]:
    """Returns what an answer says beside: the secret that a webhook was given, and warnings."""
    told: dict[str, Any] = {"warnings": wanted.warnings} if wanted.warnings else {}
    if wanted.webhook is not None:
        service.webhooks.look(subscribed.born)
        told["webhook"] = {"url": wanted.webhook.url}
        if subscribed.secret is not None:
            told["webhook"]["secret"] = subscribed.secret
    return told


def shown(standing: DeliveryStanding) -> dict[str, Any]:
    """Returns a subscription as it is told; `due = delivered + pending + dead + gap`."""
    return {
        "id": standing.id,
        **standing.document,
        **_shown_webhook(standing.webhook),
        "expires": shown_end(standing.expires),
        "live": standing.ended is None,
        "cursor": delivery_id(standing.born, standing.acknowledged),
        "matched": standing.matched,
        "due": standing.due,
        "delivered": standing.delivered,
        "pending": standing.pending,
        "dead": standing.dead,
        "gap": standing.gap,
    }


def _shown_webhook(webhook: dict[str, Any] | None) -> dict[str, Any]:
    """Returns how a webhook is doing, as it is told."""
    if webhook is None:
        return {}
    since = webhook.get("failing_since")
    return {
        "webhook": {**webhook, **({} if since is None else {"failing_since": shown_time(since)})}
    }
