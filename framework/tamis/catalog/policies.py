"""Keeps the delivery policies of what is subscribed, and how they change.

Changes form a chain that grows at its end. A follower holds the last change that it knows; earlier
ones are garbage, so the chain is as long as the slowest follower is behind.
Invariant: the versions of changes ascend. Cost: O(1) a change.
"""

from __future__ import annotations

from collections.abc import Iterator

from tamis.language.policies import Policy


class PolicyChange:
    """A subscription that got its policies, or lost them (an empty tuple)."""

    __slots__ = ("following", "id", "policies", "version")

    def __init__(self, version: int, id: str, policies: tuple[Policy, ...]) -> None:
        self.version = version
        self.id = id
        self.policies = policies
        self.following: PolicyChange | None = None

    def after(self, version: int) -> Iterator[PolicyChange]:
        """Yields the changes after this one, up to a version of the catalog."""
        change = self.following
        while change is not None and change.version <= version:
            yield change
            change = change.following


class SubscribedPolicies:
    """The policies by subscription, of those that have some."""

    def __init__(self) -> None:
        self.live: dict[str, tuple[Policy, ...]] = {}
        self.last = PolicyChange(0, "", ())

    def put(self, id: str, policies: tuple[Policy, ...], version: int) -> None:
        """Puts a subscription as it is now: new, replaced, or (without policies) gone."""
        if policies:
            self.live[id] = policies
        elif self.live.pop(id, None) is None:
            return
        change = PolicyChange(version, id, policies)
        self.last.following = change
        self.last = change
