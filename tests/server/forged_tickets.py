"""Asks a server with tickets that are none: `python -m tests.server.forged_tickets --times N`.

Forged, cut, lengthened, foreign and expired tickets, of subscriptions that are there, are gone, and
came again under the same id: none is accepted, and nothing has changed when all were tried.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import secrets
import string
import tempfile
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import httpx

from tamis.server.service import ServerSettings
from tamis.server.serving import Server
from tests.server.conftest import Client, matcher

_LETTERS = string.ascii_letters + string.digits + "-_"
_ADMIN = {"Authorization": "Bearer the admin key"}
_PATHS = (
    *(("GET", ""), ("PUT", ""), ("DELETE", ""), ("POST", "/renew"), ("POST", "/ack")),
    *(("GET", "/matches?wait=0"), ("GET", "/dead"), ("POST", "/dead/1-1/redeliver")),
    *(("POST", "/webhook/rotate"), ("POST", "/webhook/enable"), ("GET", "/undetermined")),
    ("POST", "/undetermined/evaluate"),
)
_WORKERS = 4


def forged(right: str, others: list[str], chance: random.Random) -> str:
    """A ticket that is not the right one."""
    at = chance.randrange(len(right))
    ways = [
        lambda: secrets.token_urlsafe(32),
        lambda: right[:at],
        lambda: right[at + 1 :],
        lambda: right + chance.choice(_LETTERS),
        lambda: right[:at] + chance.choice(_LETTERS) + right[at + 1 :],
        lambda: right.swapcase(),
        lambda: right[::-1],
        lambda: f'"{right}"',
        lambda: right[:at] + " " + right[at:],
        lambda: chance.choice(others),
        lambda: chance.choice(["", "null", "*", "0" * 43, "the admin", right * 2]),
    ]
    while True:
        ticket: str = chance.choice(ways)()
        if ticket.strip() != right:
            return ticket


class _Owner:
    """Subscriptions of which somebody else tries to take hold."""

    def __init__(self, client: Client) -> None:
        self.tickets: dict[str, str] = {}
        self.gone: list[str] = []
        for number in range(4):
            for is_last in [False, True][number % 2 :]:
                address, header = client.subscribed("a = 1", id=f"s{number}", validity=1e6)
                ticket = header["Authorization"].removeprefix("Bearer ")
                if is_last:
                    self.tickets[address] = ticket
                else:  # it is cancelled, and its id is another's then
                    client.delete(address, headers=header)
                    self.gone.append(ticket)
        _, header = client.subscribed("a = 1", id="brief", validity=0.001)
        self.gone.append(header["Authorization"].removeprefix("Bearer "))

    def state(self, client: Client) -> list[Any]:
        found: list[Any] = client.get("/subscriptions", headers=_ADMIN).json()
        return [each for each in found if each["id"] != "brief"]


def _attack(url: str, owner: _Owner, times: int, seed: str, statuses: Counter[int]) -> None:
    chance = random.Random(seed)
    addresses = [*owner.tickets.items(), ("/subscriptions/brief", "x" * 43)]
    with httpx.Client(base_url=url, timeout=60) as client:
        while statuses.total() < times:
            address, right = chance.choice(addresses)
            others = [*owner.gone, *(each for each in owner.tickets.values() if each != right)]
            if address.endswith("brief"):
                others = [*owner.gone[:-1], *owner.tickets.values()]
            method, path = chance.choice(_PATHS)
            header = f"Bearer {forged(right, others, chance)}".strip()
            body = None if method in ("GET", "DELETE") else b'{"where": "a = 2", "id": "1-1"}'
            with contextlib.suppress(httpx.TransportError):  # it was idle, and closed meanwhile
                sent = client.request(
                    method, address + path, headers={"Authorization": header}, content=body
                )
                statuses[sent.status_code] += 1


def attack(times: int, seed: int) -> Counter[int]:
    """Tries so many tickets; the answers by status, of which none is a success."""
    statuses: Counter[int] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        settings = ServerSettings(Path(folder), admin_key="the admin key")
        with Server(settings, matcher) as server:
            server.wait_ready()
            with Client(base_url=server.url, timeout=60) as client:
                owner = _Owner(client)
                before = owner.state(client)
                found = [Counter[int]() for _ in range(_WORKERS)]
                threads = [
                    threading.Thread(
                        target=_attack,
                        args=(server.url, owner, times // _WORKERS, f"{seed} {at}", each),
                    )
                    for at, each in enumerate(found)
                ]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                for each in found:
                    statuses += each
                assert owner.state(client) == before
    assert statuses.total() == times // _WORKERS * _WORKERS
    assert set(statuses) <= {401, 403, 404}, statuses
    return statuses


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    chosen = parser.parse_args()
    print(f"seed {chosen.seed}")
    print(f"{chosen.times} tickets, none accepted: {dict(attack(chosen.times, chosen.seed))}")


if __name__ == "__main__":
    main()
