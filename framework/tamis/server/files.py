"""Keeps subscriptions of the log in step with a folder of files.

Each `.jsonl` file of the folder holds subscriptions as `tamis match` takes them, each with an id.
What comes, changes and goes there comes, is replaced and ends in the log; what others subscribed is
left alone. While anything in the folder cannot be taken, or changes from one look to the next,
nothing ends, so that a file that is being written costs nobody a subscription. They have no ticket:
the admin reads them, webhooks get them.
Cost: the names are read once a second, and the files when one has changed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tamis.errors import TamisError
from tamis.files.reading import read_lines
from tamis.files.repeating import repeated
from tamis.log import log as logger
from tamis.server import changes
from tamis.server.checks import CheckedSubscription, checked_subscription
from tamis.server.errors import LogError, Refusal
from tamis.server.log import Log
from tamis.server.problems import HttpProblem
from tamis.server.reading import DeliveryStanding
from tamis.server.webhooks.addresses import Network

if TYPE_CHECKING:
    from tamis.matcher import Matcher

NO_TICKET = bytes(32)
"""What the log keeps in the place of a ticket's hash; no ticket has it."""
_POLL_SECONDS = 1.0
_TOGETHER = 1_000

_Stamp = dict[Path, tuple[int, int, int]]


class SubscriptionFiles:
    """Follows the folder."""

    def __init__(
        self,
        folder: Path,
        log: Log,
        matcher: Matcher,
        networks: tuple[Network, ...],
        changed: Callable[[int], None],
    ) -> None:
        if not folder.is_dir():
            raise LogError(f"{folder} is no folder: --subscriptions is one of .jsonl files")
        self._folder = folder
        self._log = log
        self._matcher = matcher
        self._networks = networks
        self._changed = changed
        self._stamp: _Stamp | None = None
        """What the log is in step with."""
        self._seen: _Stamp | None = None
        """What was there when it was looked last."""
        self._taken: dict[str, dict[str, Any]] = {}
        """What was taken of each id, as it stood in its file."""
        self._is_whole = True

    @contextmanager
    def in_step(self) -> Iterator[None]:
        """Brings the log in step, and keeps it so until what is within ends."""
        self.keep()
        with repeated(self.keep, _POLL_SECONDS, f"keeping subscriptions of {self._folder} in step"):
            yield

    def keep(self) -> None:
        """Brings the log in step, if a file has changed."""
        stamp = self._stamps()
        if stamp == self._stamp:
            return
        stays, self._seen = stamp == self._seen, stamp
        self._stamp, self._is_whole = None, True
        documents = dict(self._documents(stamp))
        standings = {
            each.id: each for each in self._log.reading.standings() if each.ticket == NO_TICKET
        }
        news = [
            (id, place, document)
            for id, (place, document) in documents.items()
            if not self._is_same(standings.get(id), document)
        ]
        for first in range(0, len(news), _TOGETHER):
            self._take(news[first : first + _TOGETHER], standings)
        gone = [each for id, each in standings.items() if id not in documents]
        if gone and self._is_whole and not stays:
            return  # looked at again: what is missing may be about to be written
        for each in gone if self._is_whole else ():
            self._log.submit(changes.Unsubscribe(each.born)).result()
            self._taken.pop(each.id, None)
        self._stamp = stamp

    def _stamps(self) -> _Stamp:
        found: _Stamp = {}
        for path in sorted(self._folder.glob("*.jsonl")):
            try:
                said = path.stat()
            except OSError:  # it went while it was looked for
                continue
            found[path] = said.st_mtime_ns, said.st_size, said.st_ino
        return found

    def _warn(self, place: str, words: str) -> None:
        self._is_whole = False
        logger.warning("%s: %s", place, words)

    def _documents(self, paths: _Stamp) -> Iterator[tuple[str, tuple[str, dict[str, Any]]]]:
        """Yields the subscriptions of all files by id, each with its place."""
        seen: dict[str, str] = {}
        for path in paths:
            try:
                lines = list(read_lines(str(path)))
            except (OSError, TamisError) as bad:
                self._warn(str(path), str(bad))
                continue
            for line in lines:
                place, document = f"{path}:{line.number}", line.document
                id = document.get("id") if isinstance(document, dict) else None
                if line.reason is not None or not isinstance(document, dict):
                    self._warn(place, line.reason or "a subscription is an object")
                elif not isinstance(id, str) or not id:
                    self._warn(place, "a subscription of a file has an id, a string")
                elif id in seen:
                    self._warn(place, f"the id {id!r} is that of {seen[id]}")
                else:
                    seen[id] = place
                    yield id, (place, document)

    def _is_same(self, standing: DeliveryStanding | None, document: dict[str, Any]) -> bool:
        """Returns whether the log has what a file says; after a start, as far as it tells."""
        id = document["id"]
        if id in self._taken:
            return self._taken[id] == document
        if standing is None:
            return False
        webhook = document.get("webhook")
        said = {name: document[name] for name in document.keys() - {"id", "validity", "webhook"}}
        if webhook is not None:
            webhook = dict(webhook) if isinstance(webhook, dict) else {"url": webhook}
            secret = webhook.pop("secret", None)
            said["webhook"] = webhook
        same = said == standing.document
        if same and webhook is not None and secret is not None:
            rows = self._log.reading.rows(
                "SELECT secrets FROM webhooks WHERE born=?", standing.born
            )
            same = bool(rows) and json.loads(rows[0][0])[0][0] == secret
        if same:
            self._taken[id] = document
        return same

    def _take(
        self, news: list[tuple[str, str, dict[str, Any]]], standings: dict[str, DeliveryStanding]
    ) -> None:
        """Subscribes and replaces."""
        under_way = []
        for id, place, document in news:
            try:
                wanted = checked_subscription(
                    document, self._matcher, default=None, networks=self._networks
                )
            except HttpProblem as bad:
                self._warn(place, bad.detail)
                continue
            future = self._log.submit(_change(id, wanted, standings.get(id)))
            under_way.append((id, place, document, future))
        for id, place, document, future in under_way:
            try:
                done = future.result()
            except Refusal as refusal:
                self._warn(place, str(refusal))
                continue
            self._taken[id] = document
            if "webhook" in document:
                self._changed(done.born)


def _change(
    id: str, wanted: CheckedSubscription, standing: DeliveryStanding | None
) -> changes.Subscribe | changes.Replace:
    if standing is not None and standing.ended is None:
        return changes.Replace(standing.born, wanted.document, wanted.validity, wanted.webhook)
    return changes.Subscribe(
        wanted.document, NO_TICKET, id, wanted.validity, webhook=wanted.webhook
    )
