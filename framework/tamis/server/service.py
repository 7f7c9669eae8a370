"""Holds what a match server is made of: settings, the log, the matcher behind it, who waits.

It answers at once, and is ready when recovery has ended: until then everything but its health is
refused with a word. Closing finishes what was accepted.
"""

from __future__ import annotations

import asyncio
import hashlib
import shutil
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ParamSpec

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request

from tamis.files.disk import flush_seconds
from tamis.log import log as logger
from tamis.matcher import Matcher
from tamis.server import changes
from tamis.server.bodies import body_of
from tamis.server.changes import Change, Decide, Outcome
from tamis.server.errors import LogError
from tamis.server.files import SubscriptionFiles
from tamis.server.log import Log
from tamis.server.matching import MatchThread
from tamis.server.overload import MOST_LATE_SECONDS, SMALL_BYTES, Lateness
from tamis.server.problems import HttpProblem, overloaded
from tamis.server.pulses import Pulses
from tamis.server.reading import DeliveryStanding
from tamis.server.tickets import fits, same
from tamis.server.webhooks.dispatch import Dispatch, WebhookSettings
from tamis.statistics import Statistics
from tamis.statistics.follower import follow

Given = ParamSpec("Given")
_SCHEME = "bearer"
ADMIN_HEADER = "tamis-admin-key"
_SENDING_SECONDS = 5.0
"""At the end, for what is being sent to webhooks."""
_FEW_BEHIND = 100
_LARGE_TOGETHER = 4
_LONGEST_SECONDS = 60.0
"""That who is refused is asked to wait."""
BACKUP = "backup-"
"""How the folders of unfinished backups begin."""


@dataclass(frozen=True)
class ServerSettings:
    """Tells how a match server is to be."""

    data: Path
    publish_key: str | None = None
    admin_key: str | None = None
    most_bytes: int = 16 * 1024 * 1024
    """Of the body of a request."""
    most_events: int = 10_000
    """In one request."""
    most_behind: int = 10_000
    """Entries that may wait to be decided before more events are refused."""
    most_lag_seconds: float = 2.0
    """How long they may, as it went lately; a hundred may for longer."""
    most_subscriptions: int = 1_000_000
    """Live ones, before more are refused."""
    most_waiting_bytes: int = 256 * 1024 * 1024
    """Of requests that are read, or wait for the disk, before more are refused."""
    wait_seconds: float = 60.0
    heartbeat_seconds: float = 15.0
    finish_seconds: float = 20.0
    """To decide what was accepted, at the end."""
    keep_seconds: float | None = None
    keep_bytes: int | None = None
    trace_bytes: int | None = None
    """Of what operators said of events, for explanations and backtests."""
    subscriptions: Path | None = None
    """A folder of files that the log is kept in step with."""
    refresh_seconds: float | None = None
    """How long after the last time the sources of operators are looked at again."""
    statistics: Path | None = None
    """A folder of statistics that are taken whenever it is written anew."""
    webhooks: WebhookSettings = field(default_factory=WebhookSettings)
    clock: Callable[[], float] = time.time


class Service:
    """A match server without its addresses."""

    def __init__(self, settings: ServerSettings, make_matcher: Callable[[], Matcher]) -> None:
        self.settings = settings
        self._make_matcher = make_matcher
        self.counts: Counter[str] = Counter()
        self.failure: BaseException | None = None
        self._log: Log | None = None
        self._matching: MatchThread | None = None
        self._webhooks: Dispatch | None = None
        self._following = ExitStack()
        self.waiting_bytes = 0
        self._large = asyncio.Semaphore(_LARGE_TOGETHER)
        self.flush_floor: float | None = None
        self._in_progress: set[bytes] = set()
        self._opened = threading.Event()
        self.pulses: Pulses | None = None
        self.lateness: Lateness | None = None

    # life

    def begin(self) -> None:
        """Begins to open, within the event loop, and returns."""
        self.pulses, self.lateness = Pulses(), Lateness()
        threading.Thread(target=self._open, name="tamis recovery", daemon=True).start()

    def _open(self) -> None:
        try:
            log = Log(self.settings.data, clock=self.settings.clock)
            self._log = log
            for left in self.settings.data.glob(f"{BACKUP}*"):  # by a process that was killed
                shutil.rmtree(left)
            matching = MatchThread(
                log,
                self._make_matcher(),
                most_age=self.settings.keep_seconds,
                most_bytes=self.settings.keep_bytes,
                trace_bytes=self.settings.trace_bytes,
                counts_misses=self.settings.admin_key is not None,
            )
            matching.decided = self._decided
            webhooks = Dispatch(log, self.settings.webhooks)
            webhooks.start()
            self._webhooks = webhooks
            self._matching = matching
            matching.start()
            self._follow(log, matching.matcher)
        except BaseException as failure:
            self.failure = failure
            logger.info("the server cannot start: %s", failure)
        finally:
            self._opened.set()
        if self.failure is None:
            self._measure_floor()

    def _follow(self, log: Log, matcher: Matcher) -> None:
        """Follows what is written outside: statistics, sources of operators, files of
        subscriptions."""
        settings = self.settings
        if settings.statistics is not None:

            def take(found: Statistics) -> None:
                matcher.statistics = found
                logger.info("new statistics of %s events were taken", f"{found.events or 0:,}")

            self._following.enter_context(follow(settings.statistics, take))
        if settings.refresh_seconds is not None:
            self._following.enter_context(matcher.refreshing(settings.refresh_seconds))
        if settings.subscriptions is not None:
            networks, look = settings.webhooks.networks, self._look
            files = SubscriptionFiles(settings.subscriptions, log, matcher, networks, look)
            self._following.enter_context(files.in_step())

    def _look(self, born: int) -> None:
        assert self._webhooks is not None
        self._webhooks.look(born)

    def _measure_floor(self) -> None:
        """Measures what a flush takes here at the least, for who looks at the metrics."""
        try:
            self.flush_floor = flush_seconds(self.settings.data)
        except OSError as bad:
            logger.warning("what a flush takes cannot be measured: %s", bad)

    def wait_opened(self, seconds: float) -> bool:
        """Waits until recovery has ended, well or not; whether it has."""
        return self._opened.wait(seconds)

    def close(self) -> None:
        """Decides what was accepted, and closes the log."""
        self._opened.wait()
        self._following.close()
        if self._matching is not None:
            self._matching.close(self.settings.finish_seconds)
            self._matching.matcher.close()
        if self._webhooks is not None:
            self._webhooks.close(_SENDING_SECONDS)
        if self._log is not None:
            self._log.close()

    @property
    def why_not_ready(self) -> str | None:
        """Why it is not ready; `None` where it is."""
        if self.failure is not None:
            return str(self.failure)
        if not self._opened.is_set() or self._matching is None or self._log is None:
            return "the log is being recovered"
        return self._log.writer.broken or self._matching.broken

    @property
    def log(self) -> Log:
        """The log; a problem until it is recovered."""
        self._check_ready()
        assert self._log is not None
        return self._log

    @property
    def matching(self) -> MatchThread:
        """Returns what follows the log; a problem until it is recovered."""
        self._check_ready()
        assert self._matching is not None
        return self._matching

    @property
    def webhooks(self) -> Dispatch:
        """Returns what sends to webhooks; a problem until the log is recovered."""
        self._check_ready()
        assert self._webhooks is not None
        return self._webhooks

    def _check_ready(self) -> None:
        why = self.why_not_ready
        if why is not None:
            raise HttpProblem("not-ready", why, headers={"Retry-After": "1"})

    # doing

    async def submit(self, change: Change[Outcome]) -> Outcome:
        """Hands in a change; what became of it, once it is on disk."""
        try:
            return await self.log.submit(change).outcome()
        except LogError as bad:
            raise HttpProblem("not-ready", str(bad), headers={"Retry-After": "5"}) from bad

    async def asked(self, request: Request, body: bytes, change: Change[Outcome]) -> Outcome:
        """Hands in what a request asks for, which happens once for all requests of its key."""
        with self.request_of(request, body) as same_request:
            return await self.submit(replace(change, request=same_request))

    async def read(
        self, function: Callable[Given, Outcome], *given: Given.args, **named: Given.kwargs
    ) -> Outcome:
        """Calls a function that reads the log, in a thread."""
        return await run_in_threadpool(function, *given, **named)

    async def computed(
        self,
        size: int,
        function: Callable[Given, Outcome],
        *given: Given.args,
        **named: Given.kwargs,
    ) -> Outcome:
        """Calls a function over so many bytes of a request; over many of them in a thread, so that
        other requests are answered meanwhile."""
        if size <= SMALL_BYTES:
            return function(*given, **named)
        return await run_in_threadpool(function, *given, **named)

    @asynccontextmanager
    async def turn(self, size: int) -> AsyncIterator[None]:
        """Waits until a request of so many bytes may be taken apart: what it holds is many times
        as large, so that few large ones are at once."""
        async with self._large if size > SMALL_BYTES else nullcontext():
            yield

    def overload(self) -> HttpProblem | None:
        """Says why no event is taken now: too much waits to be decided, or to be read."""
        if self._matching is None or self._log is None or self.lateness is None:
            return None
        state, settings = self._log.state, self.settings
        behind = state.position - state.cursor
        seconds = self._matching.seconds_for(behind)
        is_slow = behind > _FEW_BEHIND and seconds > settings.most_lag_seconds
        if is_slow or behind >= settings.most_behind:
            words = f"{behind:,} entries of the log wait to be matched"
            return overloaded(words, min(_LONGEST_SECONDS, seconds / 2))
        late = self.lateness.seconds
        if late > MOST_LATE_SECONDS:
            return overloaded(f"requests wait for {late:.1f} s to be read")
        return None

    def has_room(self) -> bool:
        """Returns whether another subscription is taken; all that is undecided may be one."""
        state = self.log.state
        live = len(self.matching.matcher) + state.position - state.cursor
        return live < self.settings.most_subscriptions

    async def body_of(self, request: Request) -> bytes:
        """Returns the bytes of a request, which count as waiting while they come."""
        with self.holding() as hold:
            return await body_of(request, self.settings.most_bytes, hold)

    @contextmanager
    def holding(self) -> Iterator[Callable[[int], None]]:
        """Takes how many bytes come to wait, until the end; refuses more than may."""
        held = 0

        def hold(size: int) -> None:
            nonlocal held
            others = self.waiting_bytes - held
            most = self.settings.most_waiting_bytes
            if held + size > SMALL_BYTES:  # those that are long under way leave room for small ones
                most //= 2
            if others and self.waiting_bytes + size > most:
                raise overloaded(f"{self.waiting_bytes:,} bytes of requests wait for their turn")
            self.waiting_bytes += size
            held += size

        try:
            yield hold
        finally:
            self.waiting_bytes -= held

    def _decided(self, decided: Decide) -> None:
        born = {due.born for verdict in decided.verdicts for due in verdict.due}
        born.update(due.born for _, due in decided.last)
        assert self._webhooks is not None
        self._webhooks.notify(born)
        if self.pulses is not None:
            self.pulses.notify(born)

    # who asks

    def is_admin(self, request: Request) -> bool:
        """Returns whether a request has the admin key."""
        key = self.settings.admin_key
        given = [bearer(request), request.headers.get(ADMIN_HEADER)]
        return key is not None and any(each is not None and same(each, key) for each in given)

    def check_admin(self, request: Request, hint: str = "") -> None:
        """Refuses a request without the admin key; the hint says what else would do."""
        if not self.is_admin(request):
            _refuse_key(request, "the admin key of this server", hint)

    def check_publisher(self, request: Request) -> None:
        """Refuses a request without the publish key, where there is one."""
        key, given = self.settings.publish_key, bearer(request)
        if key is not None and (given is None or not same(given, key)):
            _refuse_key(request, "the publish key of this server")

    async def standing_of(
        self, request: Request, id: str, *, for_admin: bool = False
    ) -> DeliveryStanding:
        """Returns the subscription of an id, for who has its ticket, or the admin key where that is
        enough."""
        ticket = bearer(request)
        is_admin = for_admin and self.is_admin(request)
        if ticket is None and not is_admin:
            raise HttpProblem(
                "ticket-required",
                f"this needs the ticket of {id!r}: Authorization: Bearer …",
                headers={"WWW-Authenticate": "Bearer"},
            )
        standing = await self.read(self.log.reading.standing, id)
        if standing is None:
            raise HttpProblem("not-found", f"there is no subscription {id!r}")
        if not is_admin and (ticket is None or not fits(ticket, standing.ticket)):
            raise HttpProblem("wrong-ticket", f"this is not the ticket of {id!r}")
        return standing

    @contextmanager
    def request_of(self, request: Request, body: bytes) -> Iterator[changes.Request | None]:
        """Returns what makes a request the same as another, if it has a key; one at a time."""
        key = idempotency_key(request)
        if key is None:
            yield None
            return
        scope = "\0".join((request.method, request.url.path, bearer(request) or "", key))
        hashed = hashlib.sha256(scope.encode(errors="surrogatepass")).digest()
        if hashed in self._in_progress:
            raise HttpProblem(
                "in-progress", "a request of this Idempotency-Key is not answered yet"
            )
        self._in_progress.add(hashed)
        try:
            yield changes.Request(hashed, hashlib.sha256(body).digest())
        finally:
            self._in_progress.discard(hashed)


def idempotency_key(request: Request) -> str | None:
    """Returns the key by which a request is the same when it comes again."""
    key = request.headers.get("idempotency-key")
    if key is not None and not 0 < len(key) <= 255:
        raise HttpProblem("malformed", "an Idempotency-Key has 1 to 255 letters")
    return key


def bearer(request: Request) -> str | None:
    """Returns the ticket or key that a request has."""
    scheme, _, value = request.headers.get("authorization", "").partition(" ")
    return value.strip() or None if scheme.lower() == _SCHEME else None


def _refuse_key(request: Request, what: str, hint: str = "") -> None:
    if bearer(request) is None:
        raise HttpProblem(
            "key-refused",
            f"this needs {what}: Authorization: Bearer …{hint}",
            headers={"WWW-Authenticate": "Bearer"},
        )
    raise HttpProblem("wrong-key", f"this is not {what}{hint}")
