"""Shows how an event would be decided: what needs no call, and the first calls.

Nothing is called and nothing is learned; the planner is told the likelier answer of each call.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

from tamis.engine.decision import EXCLUDED, MEMO, Decision
from tamis.engine.rehearsal import Step
from tamis.engine.state import OPEN
from tamis.numeric.lists import distinct
from tamis.result.pending import PendingResult
from tamis.words import counted, duration

_NAMED = 5


class Plan:
    """The plan of an event, as text (`str`) and as data."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data

    def __str__(self) -> str:
        data = self.data
        found = f"{counted(data['candidates'], 'candidate')} among "
        found += f"{counted(data['subscriptions'], 'subscription')}"
        lines = [
            f"{data['event']}: {found}, {counted(data['checked'], 'row')} checked",
            f"  free: {data['matched']:,} matched by attributes alone"
            + "".join(f", {count:,} {what}" for what, count in data["free"].items() if count),
            f"  open: {counted(data['open'], 'alternative')} over {counted(data['calls'], 'call')}",
        ]
        if data["steps"]:
            lines.append(f"  {data['planner']} would begin, if each answer is the likelier one:")
        lines += [f"  {at:>3}. {_line(each)}" for at, each in enumerate(data["steps"], 1)]
        if data["more"]:
            lines.append("       and so on")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<plan of {self.data['event']}: {counted(self.data['calls'], 'call')} open>"


def plan_of(begun: PendingResult, planner: str, most: int) -> Plan:
    """Makes the plan of an event that has begun."""
    seen, underway = begun.seen, begun.underway
    data: dict[str, Any] = {
        "event": seen.event.id,
        "planner": planner,
        "subscriptions": seen.subscriptions,
        "checked": seen.checked,
        "candidates": len(distinct(seen.owners)),
        "matched": len(seen.plain),
        "free": {},
        "open": 0,
        "calls": 0,
        "steps": [],
        "more": False,
    }
    if underway is not None:
        rehearsal = underway.rehearsal()
        decision = rehearsal.decision
        hows = list(decision.outcomes.values())
        data["free"] = {
            "excluded": hows.count(EXCLUDED),
            "remembered": hows.count(MEMO),
            "without their inputs": len(decision.missing),
            "false by conditions": len(decision.failed_conditions),
        }
        data["open"] = rehearsal.open
        problem = decision.problem
        verdict = decision.verdict
        data["calls"] = len(
            {
                call
                for at, calls in enumerate(problem.alternative_calls)
                if verdict[at] == OPEN
                for call in calls
                if decision.is_open(call)
            }
        )
        steps = list(islice(rehearsal.steps(), most + 1))
        name_of = seen.catalog.id_of
        data["steps"] = [_data(step, decision, name_of) for step in steps[:most]]
        data["more"] = len(steps) > most
    return Plan(data)


def _data(step: Step, decision: Decision, name_of: Callable[[int], str]) -> dict[str, Any]:
    rows = decision.skeleton.subscriptions[step.subscriptions].tolist()
    return {
        "predicate": decision.skeleton.calls[step.call].text,
        "score": step.score,
        "selectivity": step.selectivity,
        "cost_seconds": step.cost_seconds,
        "shared_by": len(rows),
        "subscriptions": sorted(map(name_of, rows))[:_NAMED],
        "if_true": {"rejects": step.rejected_if_true, "matches": step.matched_if_true},
        "if_false": {"rejects": step.rejected_if_false, "matches": step.matched_if_false},
    }


def _line(step: dict[str, Any]) -> str:
    score = "" if step["score"] is None else f"score {step['score']:.3g}, "
    named = ", ".join(step["subscriptions"])
    more = step["shared_by"] - len(step["subscriptions"])
    named += f" and {more:,} more" if more else ""
    return (
        f"{step['predicate']}: {score}{duration(step['cost_seconds'])}, true of "
        f"{step['selectivity']:.0%}; for {named}; "
        f"if true {_does(step['if_true'])}; if false {_does(step['if_false'])}"
    )


def _does(outcome: dict[str, int]) -> str:
    """Describes the effect of an outcome on subscriptions: `matches 1, rejects 3`."""
    said = [f"{what} {count:,}" for what, count in sorted(outcome.items()) if count]
    return " and ".join(said) or "goes on"
