"""Puts load on a match server in a process of its own, at given times, and reads what it delivers.

Publishers are connections that send one event a request. In an open loop each event is sent at its
time, on a connection more where none is free, so that the server gets what is offered; beyond a
thousand it waits on its own account. A 429 is counted as shed; every event that was accepted has to
be delivered, else it is an error.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import urlopen

from tamis import Client
from tamis_bench.report import Row, progress

SITE_SHARE = 5
"""So many subscriptions are about the site of an event; about half of them match it."""
_CONNECTIONS = 64
_PUBLISHERS = 32
_MOST_CONNECTIONS = 1_024
_PATIENCE_SECONDS = 120.0
_FOLLOWED_SECONDS = 600.0
_EXPLAINED = 200
_KEY = "the key of the bench"


class RunningServer:
    """A match server that serves a folder, as `tamis serve` does; for `with`."""

    def __init__(self, folder: Path) -> None:
        began = time.perf_counter()
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-m", "tamis", "serve", "--port", "0", "--admin-key", _KEY),
                *("--data", str(folder)),
            ],
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self._process.stderr is not None
        said = self._process.stderr.readline()
        self.ready_seconds = time.perf_counter() - began
        found = re.search(r"http://\S+?(?=,|\s)", said)
        if found is None:
            raise AssertionError(f"the server said {said!r}")
        self.url = found[0]

    def wait_followed(self) -> float:
        """Waits until all that is in the log is subscribed; how long that took."""
        began = time.perf_counter()
        while True:
            with urlopen(f"{self.url}/metrics") as answer:
                lag = re.search(rb"^tamis_lag_entries ([\d.]+)", answer.read(), re.MULTILINE)
            if lag is not None and not float(lag[1]):
                return time.perf_counter() - began
            if time.perf_counter() - began > _FOLLOWED_SECONDS:
                raise AssertionError("the server does not come to the end of its log")
            time.sleep(0.1)

    def __enter__(self) -> RunningServer:
        return self

    def __exit__(self, *exception: object) -> None:
        self._process.terminate()
        self._process.wait()
        assert self._process.stderr is not None
        self._process.stderr.close()


class _Connection:
    """A connection that sends one request at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    @classmethod
    async def to(cls, url: str) -> _Connection:
        place = urlsplit(url)
        return cls(*await asyncio.open_connection(place.hostname, place.port))

    async def post(self, event: dict[str, Any]) -> int:
        """Publishes an event; the status of the answer."""
        body = json.dumps(event).encode()
        head = "POST /events HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\n"
        self._writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        answer = await self._reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"content-length: (\d+)", answer, re.IGNORECASE)
        await self._reader.readexactly(int(length[1]) if length else 0)
        return int(answer.split(b" ", 2)[1])

    async def follow(self, address: str, ticket: str) -> AsyncIterator[str]:
        """Yields the events of a stream of deliveries, by their ids, as they come."""
        head = f"GET {address} HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {ticket}\r\n\r\n"
        self._writer.write(head.encode())
        while line := await self._reader.readline():
            if line.startswith(b"data:"):
                yield json.loads(line[5:])["event"]

    def close(self) -> None:
        self._writer.close()


class _Load:
    """Events that are published, and when they were delivered."""

    def __init__(self, url: str, connections: list[_Connection], sites: int) -> None:
        self._url = url
        self._connections = connections
        self._sites = sites
        self._chance = random.Random(1)
        self.delivered: dict[str, float] = {}
        self._numbers = 0

    def close(self) -> None:
        for connection in self._connections:
            connection.close()

    async def listen(self, stream: AsyncIterator[str]) -> None:
        async for id in stream:
            self.delivered[id] = time.perf_counter()

    def event(self) -> dict[str, Any]:
        self._numbers += 1
        site, level = self._chance.randrange(self._sites), self._chance.randrange(100)
        return {"id": f"e{self._numbers}", "site": site, "level": level, "sequence": self._numbers}

    async def closed(self, seconds: float) -> float:
        """Events a second that are delivered when each publisher waits for its answer."""
        ends = time.perf_counter() + seconds
        sent: list[str] = []

        async def publish(connection: _Connection) -> None:
            while time.perf_counter() < ends:
                event = self.event()
                if await connection.post(event) == 202:
                    sent.append(event["id"])

        began = time.perf_counter()
        await asyncio.gather(*map(publish, self._connections[:_PUBLISHERS]))
        await self._all_delivered(sent)
        return len(sent) / (time.perf_counter() - began)

    async def open(self, rate: float, seconds: float) -> dict[str, Any]:
        """Publishes events at their times; how many were accepted, and how long they took."""
        free, places = list(self._connections), asyncio.Semaphore(_MOST_CONNECTIONS)
        due: dict[str, float] = {}
        accepted: list[str] = []
        others: list[int] = []

        async def publish(event: dict[str, Any]) -> None:
            async with places:
                connection = free.pop() if free else await self._connect()
                try:
                    status = await connection.post(event)
                except (ConnectionError, asyncio.IncompleteReadError):  # closed for being idle
                    connection = await self._connect()
                    status = await connection.post(event)
                free.append(connection)
            if status == 202:
                accepted.append(event["id"])
            else:
                others.append(status)

        began = time.perf_counter()
        tasks: set[asyncio.Task[None]] = set()
        for number in range(round(rate * seconds)):
            at = began + number / rate
            wait = at - time.perf_counter()
            if wait > 0:
                await asyncio.sleep(wait)
            event = self.event()
            due[event["id"]] = at
            task = asyncio.create_task(publish(event))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        await asyncio.gather(*tasks)
        published = time.perf_counter() - began
        await self._all_delivered(accepted)
        whole = max((self.delivered[id] for id in accepted), default=began) - began
        took = sorted(1e3 * (self.delivered[id] - due[id]) for id in accepted)
        if set(others) - {429} or len(accepted) + len(others) != len(due):
            raise AssertionError(f"of {len(due)}, {len(accepted)} are accepted, {set(others)}")
        return {
            "offered_a_second": rate,
            "accepted_a_second": len(accepted) / published,
            "delivered_a_second": len(accepted) / whole,
            "shed": len(others),
            "p50_ms": _quantile(took, 0.5),
            "p99_ms": _quantile(took, 0.99),
        }

    async def _connect(self) -> _Connection:
        connection = await _Connection.to(self._url)
        self._connections.append(connection)
        return connection

    async def _all_delivered(self, ids: list[str]) -> None:
        ends = time.perf_counter() + _PATIENCE_SECONDS
        while not self.delivered.keys() >= set(ids):
            if time.perf_counter() > ends:
                raise AssertionError("what was accepted is not delivered")
            await asyncio.sleep(0.05)


def _quantile(values: list[float], share: float) -> float | None:
    return values[min(len(values) - 1, int(share * len(values)))] if values else None


async def load_rows(
    server: RunningServer, subscriptions: int, seconds: int, loads: list[int]
) -> list[Row]:
    """Returns what the server does under each load, and how fast it explains."""
    client = Client(server.url, admin_key=_KEY)
    every = client.subscribe("exists(sequence)", id="every event")
    connections = [await _Connection.to(server.url) for _ in range(_CONNECTIONS + 1)]
    load = _Load(server.url, connections[1:], max(1, subscriptions // SITE_SHARE))
    stream = connections[0].follow("/subscriptions/every%20event/matches", every.ticket)
    listening = asyncio.create_task(load.listen(stream))
    await load.closed(seconds)  # what is compiled and read first is not measured
    progress("capacity")
    capacity = await load.closed(seconds)
    part = f"Publish to delivery, {subscriptions:,} subscriptions, open loop"
    rows: list[Row] = []
    for percent in loads:
        progress(f"{percent}% of {capacity:,.0f} events a second")
        found = await load.open(capacity * percent / 100, seconds)
        rows.append({"part": part, "load": f"{percent}%", "subscriptions": subscriptions, **found})
        await asyncio.sleep(1)
    listening.cancel()
    load.close()
    connections[0].close()
    return [*rows, *_explained(client, list(load.delivered), subscriptions)]


def _explained(client: Client, events: list[str], subscriptions: int) -> list[Row]:
    """Returns how long explanations of recent events take."""
    progress("explanations")
    chance, took = random.Random(2), []
    for _ in range(_EXPLAINED):
        event, one = chance.choice(events[-10_000:]), chance.randrange(subscriptions)
        began = time.perf_counter()
        client.request("GET", f"/events/{event}/why?subscription=s{one}")
        took.append(1e3 * (time.perf_counter() - began))
    closest = []
    for event in chance.choices(events[-10_000:], k=20):
        began = time.perf_counter()
        client.request("GET", f"/events/{event}/why")
        closest.append(1e3 * (time.perf_counter() - began))
    part, took = "Why an event of the log did not match", sorted(took)
    first, *others = closest
    return [
        {"part": part, "what": "one subscription", "ms": _quantile(took, 0.5),
         "p99_ms": _quantile(took, 0.99)},
        {"part": part, "what": "the closest of all, the first time", "ms": first, "p99_ms": first},
        {"part": part, "what": "the closest of all", "ms": _quantile(sorted(others), 0.5),
         "p99_ms": max(others)},
    ]  # fmt: skip
