"""Adds what delivery policies let through to the lines of `tamis match`, and keeps their state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tamis.matcher import Matcher
    from tamis.policy import Deliveries
    from tamis.result import Result

_NONE: Mapping[str, Any] = {}


@dataclass(frozen=True)
class Policies:
    """The deliveries of a run, where a subscription has policies."""

    deliveries: Deliveries | None
    folder: str | None
    """The folder of the state from run to run."""

    @classmethod
    def of(cls, matcher: Matcher, folder: str | None) -> Policies:
        """Returns the policies of what is subscribed, as the last run left them in the folder."""
        from tamis.policy import Deliveries
        from tamis.policy.saved import is_state

        if folder is not None:
            Path(folder).mkdir(parents=True, exist_ok=True)
        if folder is not None and is_state(Path(folder)):
            found = Deliveries.open(folder, matcher)
        else:
            found = Deliveries(matcher)
        return cls(found if len(found) else None, folder)

    def due(self, result: Result) -> Mapping[str, Any]:
        """Returns the deliveries for the line of a result."""
        if self.deliveries is None:
            return _NONE
        return {"deliveries": [each.as_dict() for each in self.deliveries.take(result)]}

    def last_line(self) -> dict[str, Any] | None:
        """Returns the line of what still waits at the end of all events, if anything does."""
        waiting = [] if self.deliveries is None or self.folder else self.deliveries.finish()
        if not waiting:
            return None
        return {
            "event": None,
            "matches": [],
            "undetermined": [],
            "deliveries": [each.as_dict() for each in waiting],
        }

    def save(self) -> None:
        """Keeps what is left for the next run."""
        if self.folder is not None and self.deliveries is not None:
            self.deliveries.save(self.folder)
