"""Sends what is due to webhooks: a thread with an event loop of its own.

One delivery of a subscription is under way at a time, so that they come in their order; a receiver
that is slow or away holds up nobody else's. What became of each is in the log before the next one
is sent: after a kill what was sent last is sent again, with the same id.
"""

from __future__ import annotations

import asyncio
import random
import threading
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from tamis.log import log as logger
from tamis.server.changes import Attempt
from tamis.server.errors import LogError
from tamis.server.log import Log
from tamis.server.webhooks import messages, outbox
from tamis.server.webhooks.addresses import Network
from tamis.server.webhooks.outbox import Later, Message
from tamis.server.webhooks.sending import GONE, Sender, SendOutcome

_DAY = 24 * 3600.0
_LONGEST_PAUSE = 600.0
_LONGEST_ASKED = 3600.0
_UNWRITTEN_SECONDS = 10.0


@dataclass(frozen=True)
class WebhookSettings:
    """Tells how webhooks are called."""

    networks: tuple[Network, ...] = ()
    """Those that may be called though they are not open to everybody."""
    timeout_seconds: float = 15.0
    connections: int = 256
    delays: tuple[float, ...] = (5, 30, 120, 600, 1800, 3600, 2 * 3600, 4 * 3600, 8 * 3600)
    """Between attempts, more or less."""
    give_up_seconds: float = 3 * _DAY
    """After its first attempt a delivery is dead."""
    disable_seconds: float = 5 * _DAY
    """After so long without one that was taken nothing is sent any more."""


class Dispatch:
    """The thread that sends."""

    def __init__(self, log: Log, settings: WebhookSettings) -> None:
        self._log = log
        self._settings = settings
        self.counts: Counter[str] = Counter()
        """Attempts by what became of them."""
        self._holders = outbox.holders(log.reading)
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._timers: dict[int, asyncio.TimerHandle] = {}
        self._again: set[int] = set()
        self._ending = False
        self._began: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, name="tamis webhooks", daemon=True)

    def start(self) -> None:
        """Begins to send what waits."""
        self._thread.start()
        self._began.result()

    def notify(self, born: Iterable[int]) -> None:
        """Tells that deliveries of subscriptions are due; from any thread."""
        found = self._holders.intersection(born)
        if found:
            self._loop.call_soon_threadsafe(self._begin, found)

    def look(self, born: int) -> None:
        """Tells that the webhook of a subscription came or changed; from any thread."""
        self._holders.add(born)
        self._loop.call_soon_threadsafe(self._begin, {born})

    def close(self, seconds: float) -> None:
        """Waits for what is under way, for so long at most, and ends."""
        self._loop.call_soon_threadsafe(self._end.set_result, seconds)
        self._thread.join()

    def _run(self) -> None:
        try:
            asyncio.run(self._main())
        except Exception as failure:
            if self._began.done():
                logger.exception("webhooks are sent no more")
            else:
                self._began.set_exception(failure)

    async def _main(self) -> None:
        self._loop = asyncio.get_running_loop()
        # a name that is resolved slowly holds up nobody else's
        self._loop.set_default_executor(
            ThreadPoolExecutor(self._settings.connections, "tamis names")
        )
        self._end: asyncio.Future[float] = self._loop.create_future()
        settings = self._settings
        self._slots = asyncio.Semaphore(settings.connections)
        self._sender = Sender(settings.networks, settings.timeout_seconds, settings.connections)
        waiting = outbox.waiting(self._log.reading)
        self._began.set_result(None)
        self._begin(waiting)
        seconds = await self._end
        self._ending = True
        for timer in self._timers.values():
            timer.cancel()
        tasks = list(self._tasks.values())
        if tasks:
            await asyncio.wait(tasks, timeout=seconds)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._sender.close()

    def _begin(self, found: Iterable[int]) -> None:
        """Sends what is due to subscriptions, each in a task of its own."""
        if self._ending:
            return
        for born in found:
            if born in self._tasks:
                self._again.add(born)
                continue
            timer = self._timers.pop(born, None)
            if timer is not None:
                timer.cancel()
            self._tasks[born] = self._loop.create_task(self._serve(born))

    async def _serve(self, born: int) -> None:
        """Sends what is due to one subscription."""
        try:
            while not self._ending:
                self._again.discard(born)
                async with self._slots:
                    found = outbox.upcoming(self._log.reading, born, self._log.clock())
                    if not isinstance(found, Message):
                        break
                    attempt = await self._attempt(found)
                    await self._log.submit(attempt).outcome()
            else:
                return
            if isinstance(found, Later):
                self._later(born, found.at - self._log.clock())
        except LogError as bad:
            logger.error("a webhook waits until the log can be written: %s", bad)
            self._later(born, _UNWRITTEN_SECONDS)
        finally:
            del self._tasks[born]
            if born in self._again:
                self._again.discard(born)
                self._begin((born,))

    def _later(self, born: int, seconds: float) -> None:
        """Looks again after a while whether something is due to a subscription."""
        seconds = min(max(0.0, seconds), _LONGEST_ASKED)
        self._timers[born] = self._loop.call_later(seconds, self._begin, (born,))

    async def _attempt(self, message: Message) -> Attempt:
        """Sends a message once; what became of it."""
        body = messages.body_of(message.subscription, message.record)
        id = message.record["id"]
        headers = messages.headers_of(message.secrets, id, int(self._log.clock()), body)
        outcome = await self._sender.send(message.url, headers, body)
        self.counts["taken" if outcome.reason is None else "failed"] += 1
        if outcome.reason is None:
            return Attempt(message.born, message.number, message.url)
        logger.info(
            "the webhook of subscription %s did not take %s: %s",
            *(message.subscription, id, outcome.reason),
        )
        return self._failed(message, outcome)

    def _failed(self, message: Message, outcome: SendOutcome) -> Attempt:
        """Says when to send again what was not taken, and whether."""
        settings, now = self._settings, self._log.clock()
        again = now + self._delay(message.tries)
        first = now if message.first is None else message.first
        pause = min(self._delay(message.failures), _LONGEST_PAUSE)
        pause = max(pause, min(outcome.after_seconds, _LONGEST_ASKED))
        since = now if message.since is None else message.since
        disables = outcome.status == GONE or now - since >= settings.disable_seconds
        if disables:
            logger.warning("the webhook of subscription %s is disabled", message.subscription)
        return Attempt(
            message.born,
            message.number,
            message.url,
            outcome.reason or "",
            None if again - first > settings.give_up_seconds else again,
            now + pause,
            disables,
        )

    def _delay(self, before: int) -> float:
        """Returns how long to wait after so many failures before this one."""
        delays = self._settings.delays
        return random.uniform(0.75, 1.25) * delays[min(before, len(delays) - 1)]
