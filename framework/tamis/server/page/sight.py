"""Answers with what the page shows of an event and of operators, to who has the admin key.

The calls of an event are those of its trace, in the order in which they were answered; what each
decided is found by taking the answers again, for what is subscribed now and stood then. No operator
is asked. Cost: that of a scan, and of subscribing and matching what asks operators about the event.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from tamis.engine.decision import Decision
from tamis.engine.state import SPARED
from tamis.planning import FALSE, TRUE, UNKNOWN
from tamis.result import Result
from tamis.server import examples
from tamis.server.json_answers import JsonResponse
from tamis.server.matching import shown_time
from tamis.server.nearest import candidates
from tamis.server.service import Service
from tamis.server.traces import Trace
from tamis.server.why import Past, past_of

_TAGS: list[Any] = ["events"]
_MOST_NAMED, _MOST_SOLUTIONS = 100, 200
_VERDICTS = {TRUE: "matched", FALSE: "rejected", UNKNOWN: "unknown", SPARED: "needless"}


def routes(service: Service) -> APIRouter:
    """Returns the addresses of what the page shows."""
    router = APIRouter(tags=_TAGS)

    @router.get("/events/{id:path}/content", openapi_extra=examples.ADMIN)
    async def content(request: Request, id: str) -> Response:
        """An event of the log as it was published, with what is large of it; with the admin
        key."""
        service.check_admin(request)
        past = await service.read(past_of, service, id)
        return JsonResponse(past.content)

    @router.get("/events/{id:path}/calls", openapi_extra=examples.ADMIN)
    async def calls(request: Request, id: str) -> Response:
        """The calls of an event in their order: what each took and said, who shares it, and what
        it decided; then those that were not needed. With the admin key."""
        service.check_admin(request)
        past = await service.read(past_of, service, id)
        data = await service.read(told, service, past)
        return JsonResponse(data)

    @router.get("/operators/accounts", openapi_extra=examples.ADMIN, tags=["operations"])
    def accounts(request: Request) -> Response:
        """Returns what each operator was asked since the start, and those that are not called for a
        while because they failed; with the admin key."""
        service.check_admin(request)
        return JsonResponse(_accounts(service))

    return router


def told(service: Service, past: Past) -> dict[str, Any]:
    """Returns the calls of an event as they are told."""
    verdict = past.verdict
    data: dict[str, Any] = {
        "event": past.entry.id,
        "position": past.entry.position,
        "time": shown_time(past.entry.at),
        "account": verdict["account"],
        "matches": verdict["matches"],
        "undetermined": verdict["undetermined"],
        "trace": "gone" if past.is_gone else None if past.trace is None else "kept",
        "calls": [],
        "spared": [],
    }
    if "failure" in verdict:
        data["failure"] = verdict["failure"]
    if past.trace is not None:
        data["calls"], data["spared"] = _calls(past.trace, *candidates(service, past))
    return data


def _calls(
    trace: Trace, result: Result, stood: Container[str]
) -> tuple[list[dict[str, Any]], list[str]]:
    """Returns the calls of a trace, taken again one by one, and those that nobody made."""
    if result.decision is None:
        return [_record(text, trace) for text in trace.answers], []
    retold = _Retold(result, stood)
    listed = [_record(text, trace) | retold.taken(text, trace) for text in trace.answers]
    lost = [{"predicate": text, "how": "lost", "bytes": size} for text, size in trace.lost.items()]
    return listed + lost, retold.spared(trace)


class _Retold:
    """An event that is decided again, one answer after the other."""

    def __init__(self, result: Result, stood: Container[str]) -> None:
        known = result.decision
        assert known is not None
        skeleton, catalog = known.skeleton, result._seen.catalog
        self._decision = Decision(skeleton, known.event, known.limits, known.stages)
        self._numbers = {call.text: at for at, call in enumerate(skeleton.calls)}
        ids = [catalog.id_of(row) for row in skeleton.subscriptions.tolist()]
        self._owners = [ids[at] if ids[at] in stood else None for at in skeleton.owners]
        self._holders = skeleton.problem.call_alternatives
        self._decision.begin(result.needless)
        self._decision.news()

    def taken(self, text: str, trace: Trace) -> dict[str, Any]:
        """Takes an answer: who shares it, and what it decides."""
        number, found = self._numbers.get(text), trace.answer(text)
        if number is None or found is None:
            return {"shared": 0, "shared_with": [], "decided": {}}
        ids = self._ids(self._holders[number])
        by_verdict: dict[str, list[int]] = {}
        self._decision.take(number, *found)
        for alternative in self._decision.news().decided:
            verdict = _VERDICTS[self._decision.verdict_of(alternative)]
            by_verdict.setdefault(verdict, []).append(alternative)
        decided = {verdict: len(self._ids(found)) for verdict, found in by_verdict.items()}
        return {"shared": len(ids), "shared_with": ids[:_MOST_NAMED], "decided": decided}

    def _ids(self, alternatives: Iterable[int]) -> list[str]:
        """Returns the subscriptions of alternatives, of those that stood then."""
        return sorted({id for at in alternatives if (id := self._owners[at]) is not None})

    def spared(self, trace: Trace) -> list[str]:
        """Returns the calls that candidates hold and nobody made."""
        return [
            text
            for text, at in self._numbers.items()
            if text not in trace.answers and self._ids(self._holders[at])
        ]


def _record(text: str, trace: Trace) -> dict[str, Any]:
    """Returns an answer as it is told: at most so many of its solutions, and how many there
    were."""
    kept = dict(trace.answers[text])
    solutions = kept.get("solutions")
    if solutions is not None:
        kept |= {"solutions": solutions[:_MOST_SOLUTIONS], "solutions_count": len(solutions)}
    return {"predicate": text, **kept}


def _accounts(service: Service) -> dict[str, Any]:
    """Returns what operators were asked, and what is known of those that failed lately."""
    matching = service.matching
    account = matching.account
    return {
        "events": account.events,
        "needed_at_least": account.needed_at_least,
        "calls": account.calls,
        "spared": account.spared,
        "operators": {name: dict(each) for name, each in list(account.operators.items())},
        "breakers": matching.matcher._gateway.failing(),
    }
