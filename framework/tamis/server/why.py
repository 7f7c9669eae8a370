"""Says why an event of the log did or did not match a subscription, from what was kept of it.

The event is decided again for the text that stood at its place, by the answers that were given
then; no operator is asked. The verdict is that of the log, whatever is decided now. A subscription
that did not stand then is told as that, with what its text says of the event.
Cost: that of one match of one subscription.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Query, Request
from starlette.responses import PlainTextResponse, Response

from tamis.errors import SubscriptionError
from tamis.result import Result
from tamis.result.explain import MATCHED, NOT_MATCHED, UNDETERMINED, Explanation
from tamis.server import examples
from tamis.server.errors import EntryGone
from tamis.server.json_answers import JsonResponse
from tamis.server.matching import entry_of, shown_time
from tamis.server.nearest import closest
from tamis.server.problems import HttpProblem
from tamis.server.reading import LiveText, LogEntry, delivery_id
from tamis.server.replay import Replay, take_in, without_others
from tamis.server.service import Service
from tamis.server.traces import Trace
from tamis.words import counted

KEPT, GONE = "kept", "gone"
Limit = Annotated[int, Query(ge=1, le=100)]
_TAGS: list[Any] = ["events"]


class Past(NamedTuple):
    """An event of the log, and what is known of it."""

    entry: LogEntry
    content: dict[str, Any]
    verdict: dict[str, Any]
    trace: Trace | None

    @property
    def is_gone(self) -> bool:
        """Returns whether operators were asked about it, and nothing of that is kept."""
        return self.trace is None and bool(self.verdict["account"].get("evaluations"))

    def verdict_on(self, id: str) -> str:
        """Returns what the log says of a subscription that stood then."""
        if any(each["subscription"] == id for each in self.verdict["matches"]):
            return MATCHED
        if "failure" in self.verdict or any(
            each["subscription"] == id for each in self.verdict["undetermined"]
        ):
            return UNDETERMINED
        return NOT_MATCHED

    def decided_by(self, replay: Replay) -> Result:
        """Returns what a replay decides of it."""
        if self.is_gone:
            replay.recollection.why = "what was said of this event is kept no longer"
        return replay.decided(self.content, self.trace or Trace())


def past_of(service: Service, event: str) -> Past:
    """Returns the event of an id; a problem where it is not there, or not decided."""
    reading = service.log.reading
    gone = HttpProblem("not-found", f"there is no event {event!r:.80}, or it is kept no longer")
    position = reading.position_of(event)
    if position is None:
        raise gone
    if position > service.log.state.cursor:
        raise HttpProblem(
            "not-ready", f"{event!r:.80} is not decided yet", headers={"Retry-After": "1"}
        )
    found = reading.decided(position - 1, 1)
    if not found or found[0][0].position != position:
        raise gone
    entry, verdict = found[0]
    try:
        return Past(entry, reading.event_of(entry), verdict, reading.trace(position))
    except EntryGone:
        raise gone from None


def explained(service: Service, past: Past, id: str, born: int | None) -> dict[str, Any]:
    """Returns the explanation of an event for a subscription: of one birth, or whatever had the
    id."""
    position = past.entry.position
    texts = service.log.reading.texts_of(id, born)
    if not texts:
        raise HttpProblem("not-found", f"there is no subscription {id!r}")
    text = next((each for each in texts if each.is_live_at(position)), None)
    replay = Replay(service.matching.matcher)
    data = _decided(replay, past, id, text or texts[0])
    data |= {"time": shown_time(past.entry.at), "stood": text is not None}
    data["trace"] = None if past.trace is None else KEPT
    if past.is_gone:
        data["trace"] = GONE
    if text is not None:
        _tell_log(data, past.verdict_on(id))
        if "failure" in past.verdict:
            data["because"] = f"no matcher could take the event: {past.verdict['failure']}"
        made = service.log.reading.delivered_at(text.born, position)
        data["deliveries"] = [
            {"id": delivery_id(text.born, each.number), "type": each.kind} for each in made
        ]
        if "deliver" in text.document:
            data["deliver"] = text.document["deliver"]
    return data


def _decided(replay: Replay, past: Past, id: str, text: LiveText) -> dict[str, Any]:
    """Returns what is decided of a text by what was kept."""
    try:
        take_in(replay, [entry_of(id, {"where": text.document["where"]})])
    except SubscriptionError as bad:
        raise HttpProblem(
            "bad-subscription", f"this server cannot read the text of {id!r}: {bad}"
        ) from bad
    try:
        result = past.decided_by(replay)
    except Exception as failure:  # as it was when the event was to be matched
        return {
            "subscription": id,
            "event": past.entry.id,
            "verdict": UNDETERMINED,
            "where": text.document["where"],
            "because": f"no matcher can take the event: {type(failure).__name__}: {failure}",
            "alternatives": [],
        }
    return without_others(result.explain(id).data)


def _tell_log(data: dict[str, Any], said: str) -> None:
    """Says what the log says, and where it differs from what is decided now."""
    if data["verdict"] == said:
        return
    data["now"] = data["verdict"]
    data["verdict"] = said
    if data["now"] == UNDETERMINED:
        data["because"] = (
            f"so it was decided then, and not all that was said is kept: {data['because']}"
        )
    elif said == UNDETERMINED:
        data["because"] = f"an operator failed then; by what it said later it is {data['now']}"
    else:
        data["because"] = (
            f"so it was decided then; by what is kept it is {data['now']} now: did an operator, or "
            f"what it declares, change?"
        )


def text_of(data: Mapping[str, Any]) -> str:
    """Returns an explanation for people."""
    lines = []
    if not data["stood"]:
        came = f"{data['event']} came at {data['time']}"
        lines.append(f"{data['subscription']} did not stand when {came}. What its text says of it:")
    lines.append(str(Explanation(dict(data))))
    if data["verdict"] == MATCHED and data.get("stood"):
        made = ", ".join(f"{each['type']} {each['id']}" for each in data["deliveries"])
        held = "nothing" + (": its policy held it back" if "deliver" in data else "")
        lines.append(f"  delivered {made or held}")
    return "\n".join(lines) + "\n"


def closest_text(data: Mapping[str, Any]) -> str:
    """Returns the closest misses for people."""
    found = [f"{data['event']} matched {counted(data['matched'], 'subscription')}"]
    found += [str(Explanation(each)) for each in data["closest"]]
    for name in ("came_later", "gone_since"):
        if data[name]:
            words = counted(data[name], "subscription")
            found.append(f"{words} {name.replace('_', ' ')}: ask for each by its id")
    return "\n".join(found) + "\n"


def routes(service: Service) -> APIRouter:
    """Returns the address of explanations."""
    router = APIRouter(tags=_TAGS)

    @router.get(
        "/events/{id:path}/why",
        openapi_extra=examples.TICKET,
        responses=examples.other("text/plain"),
    )
    async def why(
        request: Request, id: str, subscription: str | None = None, limit: Limit = 10
    ) -> Response:
        """Why an event of the log did or did not match a subscription, with its ticket or the
        admin key; with the admin key and no subscription, those that it did not match, the closest
        misses first. As JSON, or as text for `Accept: text/plain`."""
        born = None
        if subscription is None:
            service.check_admin(request, "; with a ticket, say whose: ?subscription=ID")
        elif not service.is_admin(request):
            born = (await service.standing_of(request, subscription)).born
        past = await service.read(past_of, service, id)
        if subscription is None:
            data, shown = await service.read(closest, service, past, limit), closest_text
        else:
            data, shown = await service.read(explained, service, past, subscription, born), text_of
        if request.headers.get("accept", "").startswith("text/plain"):
            text = shown(data).encode(errors="backslashreplace")
            return PlainTextResponse(text)
        return JsonResponse(data)

    return router
