"""Makes again what a server had to deliver, by a plain model of the entries of its log.

The model knows the truth; the verdicts in the log say only of which events an operator failed. What
was left open is delivered as that, whatever the policy, and once more when it was found to match.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def is_match(numbers: list[int], event: Mapping[str, int]) -> bool:
    """What the condition means, in Python."""
    first, second, third = numbers
    return (event["a"] > first and event["people"] > second) or (
        event["b"] == third and event["people"] != 3
    )


def may_be_open(numbers: list[int], event: Mapping[str, int]) -> bool:
    """Returns whether the condition depends on the operator."""
    first, _, third = numbers
    return event["a"] > first or event["b"] == third


class Policy:
    """What a policy delivers, by a plain model."""

    def __init__(self, deliver: Any) -> None:
        self.deliver = deliver
        self.last: list[bool] = []
        self.done = False

    def takes(self, matched: bool) -> bool:
        if self.deliver is None:
            return matched
        if "once" in self.deliver:
            first, self.done = matched and not self.done, self.done or matched
            return first
        self.last = [*self.last, matched][-3:]
        if matched and sum(self.last) >= 2:
            self.last = []
            return True
        return False


class Replay:
    """What was due to subscriptions, by their births."""

    def __init__(self) -> None:
        self.live: dict[str, int] = {}
        self.numbers: dict[int, list[int]] = {}
        self.policies: dict[int, Policy] = {}
        self.due: dict[int, list[tuple[str, str]]] = {}
        self.opened: dict[int, set[int]] = {}
        """The events that are open, by subscription."""
        self.unsure: set[int] = set()
        """Those whose policy counts events that were open and may not match: what it makes of these
        depends on what came between."""
        self._events: dict[int, dict[str, Any]] = {}
        self._then: dict[tuple[int, int], list[int]] = {}

    def take(self, entry: Any, verdict: Mapping[str, Any]) -> None:
        """Takes the next entry of a log, and the verdict on it."""
        if entry.kind in ("subscribe", "replace"):
            self.live[entry.id] = entry.born
            self.numbers[entry.born] = entry.body["numbers"]
            deliver = entry.body.get("deliver")
            if entry.born not in self.policies or self.policies[entry.born].deliver != deliver:
                self.policies[entry.born] = Policy(deliver)
        elif entry.kind in ("unsubscribe", "expire"):
            if self.live.get(entry.id) == entry.born:
                del self.live[entry.id]
        elif entry.kind in ("publish", "evaluate"):
            assert "failure" not in verdict, verdict
            matched = {each["subscription"] for each in verdict["matches"]}
            undetermined = {each["subscription"] for each in verdict["undetermined"]}
            if entry.kind == "publish":
                self._decide(entry, matched, undetermined)
            else:
                self._evaluate(entry, matched, undetermined)

    def _decide(self, entry: Any, matched: set[str], undetermined: set[str]) -> None:
        event = self._events[entry.position] = entry.body["event"]
        for id, born in self.live.items():
            numbers = self.numbers[born]
            if id in undetermined:
                assert may_be_open(numbers, event), entry
                self.due.setdefault(born, []).append((entry.id, "undetermined"))
                self.opened.setdefault(born, set()).add(entry.position)
                self._then[entry.position, born] = numbers
                continue
            assert (id in matched) == is_match(numbers, event), entry
            if self.policies[born].takes(id in matched):
                self.due.setdefault(born, []).append((entry.id, "match"))

    def _evaluate(self, entry: Any, matched: set[str], undetermined: set[str]) -> None:
        """Takes what an event gave that was evaluated again, for one subscription or all."""
        of = entry.body["of"]
        for id in matched:
            born = self.live[id]
            assert entry.born in (0, born), entry
            assert of in self.opened.get(born, ()), "what is delivered was open, and is no longer"
            assert self._then[of, born] == self.numbers[born], entry
            assert is_match(self.numbers[born], self._events[of]), entry
            self.opened[born].discard(of)
            if self.policies[born].takes(True):
                self.due.setdefault(born, []).append((entry.id, "match"))
        for born, opened in self.opened.items():
            policy = self.policies[born].deliver or {}
            if of in opened and "of" in policy:
                self.unsure.add(born)

    def check(self, born: int, found: list[tuple[str, str]], id: str) -> None:
        """Compares the first thousand deliveries of a subscription with what was due to it."""
        due = self.due.get(born, [])
        if born in self.unsure:
            open_ = [one for one in due if one[1] == "undetermined"]
            assert [one for one in found if one[1] == "undetermined"] == open_, id
        else:
            assert found == due[:1000], id
