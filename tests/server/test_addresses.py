"""Webhooks reach nothing that is not open to everybody, however it is written or resolved."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from ipaddress import ip_address
from typing import Any

import pytest

from tamis.errors import SubscriptionError
from tamis.server.webhooks.addresses import Network, is_open, literal_address, networks_of
from tamis.server.webhooks.sending import Sender, SendOutcome
from tamis.server.webhooks.targets import webhook_of
from tests.server.receivers import Receiver, receiving

HERE = networks_of(["127.0.0.0/8", "::1/128"])
FORGED = (
    *("127.0.0.1", "127.1", "127.0.1", "127.255.255.254", "0", "0.0.0.0", "00", "0x0"),
    *("2130706433", "0x7f000001", "0x7f.1", "0x7F.0.0.1", "0177.0.0.1", "017700000001", "127.0.01"),
    *("localhost", "LOCALHOST", "localhost.", "ip6-localhost", "localhost.localdomain"),
    *("[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]"),
    *("[::ffff:0:127.0.0.1]", "[::127.0.0.1]", "[64:ff9b::127.0.0.1]", "[64:ff9b::7f00:1]"),
    *("[64:ff9b:1::7f00:1]", "[2002:7f00:1::]", "[2001:0:7f00:1::]", "[fe80::1]", "[fe80::1%25lo]"),
    *("[fc00::1]", "[fd00:ec2::254]", "[ff02::1]", "[2001:db8::1]", "[::ffff:169.254.169.254]"),
    *("169.254.169.254", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "169.254.43518"),
    *("100.100.100.200", "168.63.129.16", "192.0.0.192", "10.0.0.1", "172.16.0.1", "192.168.0.1"),
    *("100.64.0.1", "198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255", "192.0.2.1"),
    *("127.0.0.1%00.example", "127.0.0.1.", "127.0.0.%31", "%31%32%37.0.0.1", "0.0.0.0.", "1"),
)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


def sent(url: str, networks: tuple[Network, ...] = (), seconds: float = 5.0) -> SendOutcome:
    async def send() -> SendOutcome:
        sender = Sender(networks, seconds, 4)
        try:
            return await sender.send(url, {"webhook-id": "1-1"}, b"{}")
        finally:
            await sender.close()

    return asyncio.run(send())


@pytest.mark.parametrize("host", FORGED)
def test_forged_addresses_reach_nothing(receiver: Receiver, host: str) -> None:
    outcome = sent(receiver.url.replace("127.0.0.1", host))
    assert outcome.reason is not None
    assert outcome.reason.startswith("cannot be reached: ")
    assert receiver.got == []


def test_most_forged_addresses_are_refused_at_once() -> None:
    taken = []
    for host in FORGED:
        with contextlib.suppress(SubscriptionError):
            taken.append(webhook_of(f"https://{host}/x", ()) and host)
    names = [host for host in FORGED if literal_address(host.strip("[]")) is None]
    assert taken == names


@pytest.mark.parametrize(
    "host", ["8.8.8.8", "1.1.1.1", "172.32.0.1", "2606:4700::1111", "64:ff9b::808:808"]
)
def test_what_is_open_to_everybody_is_open(host: str) -> None:
    assert is_open(ip_address(host))
    assert not is_open(ip_address("10.1.2.3"))
    assert is_open(ip_address("::ffff:10.1.2.3"), networks_of(["10.0.0.0/8"]))


def test_what_is_allowed_is_reached(receiver: Receiver) -> None:
    assert sent(receiver.url, HERE) == SendOutcome(status=204)
    assert sent(receiver.url.replace("127.0.0.1", "2130706433"), HERE).status == 204


def test_the_connection_goes_to_what_was_checked(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that leads elsewhere when it is asked again, and to closed addresses beside."""
    asked: list[object] = []
    real = socket.getaddrinfo

    def rebinds(host: Any, *more: Any, **named: Any) -> Any:
        if host != "rebinds.example":
            return real(host, *more, **named)
        asked.append(host)
        port = more[0]
        places = ["10.0.0.1", "127.0.0.1"] if len(asked) == 1 else ["10.0.0.1"]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port)) for each in places]

    monkeypatch.setattr(socket, "getaddrinfo", rebinds)
    url = receiver.url.replace("127.0.0.1", "rebinds.example")
    assert sent(url, HERE) == SendOutcome(status=204)
    assert asked == ["rebinds.example"]
    assert receiver.got[0].headers["host"] == url.split("/")[2]
    assert "does not call that address" in str(sent(url, HERE).reason)
    assert len(receiver.got) == 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_not_followed(receiver: Receiver, status: int) -> None:
    with receiving() as other:
        receiver.answer = lambda got: (status, {"location": other.url}, b"")
        outcome = sent(receiver.url, HERE)
        assert outcome.reason == f"HTTP {status}: redirects are not followed"
        assert other.got == []


@contextlib.contextmanager
def raw(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server of bytes: its address."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listening.accept()
                    with connection, contextlib.suppress(OSError):
                        connection.recv(65_536)
                        answer(connection)

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
        listening.shutdown(socket.SHUT_RDWR)


def test_an_answer_without_end_is_not_read() -> None:
    sizes = [0]

    def endless(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n")
        while True:
            sizes[0] += connection.send(b"x" * 65_536)

    with raw(endless) as url:
        assert sent(url, HERE) == SendOutcome(status=200)
    assert sizes[0] < 50_000_000


def test_an_answer_that_trickles_is_not_waited_for() -> None:
    def slow_body(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 204 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            connection.sendall(b"1\r\nx\r\n")
            time.sleep(0.05)

    def slow_head(connection: socket.socket) -> None:
        for each in b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 1_000:
            connection.sendall(bytes([each]))
            time.sleep(0.02)

    began = time.monotonic()
    with raw(slow_body) as url:
        assert sent(url, HERE).status == 204
    with raw(slow_head) as url:
        assert sent(url, HERE, 1.0).reason == "no answer within 1 s"
    assert time.monotonic() - began < 30


@pytest.mark.parametrize("said", [b"", b"SSH-2.0-x\r\n", b"HTTP/1.1 200 OK\r\n" + b"x" * 200_000])
def test_an_answer_that_is_none_is_a_failure(said: bytes) -> None:
    with raw(lambda connection: connection.sendall(said)) as url:
        outcome = sent(url, HERE)
    assert str(outcome.reason).startswith("cannot be reached: ")
    assert len(str(outcome.reason)) <= 200


def test_a_certificate_that_nobody_knows_is_refused() -> None:
    with raw(lambda connection: None) as url:
        outcome = sent(url.replace("http:", "https:"), HERE)
    assert str(outcome.reason).startswith("cannot be reached: ")
