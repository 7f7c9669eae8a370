"""The client: it asks again where that helps, resumes streams, and says what a server refuses."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import httpx
import pytest
from standardwebhooks import Webhook

import tamis
from tamis.server.database import open_database
from tamis.server.service import ServerSettings
from tamis.server.serving import Server
from tests.server.conftest import matcher, until
from tests.server.receivers import receiving
from tests.server.test_webhooks import QUICK, SECRET


def test_a_client_subscribes_publishes_and_reads(tmp_path: Path) -> None:
    with (
        Server(ServerSettings(tmp_path, publish_key="p", admin_key="a"), matcher) as server,
        tamis.Client(server.url, publish_key="p") as client,
    ):
        fast = client.subscribe("speed > 3", id="fast er", data={"team": "x"}, validity="1h")
        assert client.publish({"id": "e1", "speed": 5}, {"id": "e2", "speed": 1}) == ["e1", "e2"]
        (verdict,) = client.publish({"id": "e3", "speed": 9}, wait=True)
        assert verdict["matches"] == ["fast er"]
        first, second = fast.pending()
        assert (first.event, second.event, first.kind) == ("e1", "e3", "match")
        assert fast.pending(after=first.id) == [second]
        fast.acknowledge(first)
        again = client.subscription(fast.id, fast.ticket)
        assert next(again.deliveries()) == second
        fast.replace("speed > 100", deliver={"once": True}, data={"team": "y"})
        assert fast.show()["where"] == "speed > 100"
        assert fast.renew("2h") == fast.expires
        with tamis.Client(server.url, publish_key="p", admin_key="a") as admin:
            (whole,) = admin.publish({"id": "e4", "speed": 200}, wait=True)
            assert whole["matches"][0]["data"]["team"] == "y"
        assert fast.why("e4")["deliveries"][0]["type"] == "match"
        fast.unsubscribe()
        with pytest.raises(tamis.ServerError, match="there is no subscription") as refused:
            fast.show()
        assert refused.value.status == 404
        with pytest.raises(tamis.ServerError, match="did you mean peopleCount") as refused:
            client.subscribe("peopelCount(?n)")
        assert refused.value.problem["errors"][0]["column"] == 1


def test_a_client_sets_webhooks_and_sends_dead_letters_again(tmp_path: Path) -> None:
    settings = ServerSettings(tmp_path, webhooks=QUICK)
    with (
        receiving() as receiver,
        Server(settings, matcher) as server,
        tamis.Client(server.url) as client,
    ):
        receiver.answer = lambda got: (500 if b'"e2"' in got.body else 200, {}, b"")
        fast = client.subscribe("a > 3", webhook=receiver.url)
        assert fast.secret is not None
        client.publish({"id": "e1", "a": 5}, {"id": "e2", "a": 5})
        (dead,) = until(lambda: fast.dead())
        assert (dead.event, dead.kind, dead.data["reason"]) == (
            "e2",
            "match",
            "HTTP 500: not taken",
        )
        assert fast.dead(after=dead.id) == []
        receiver.answer = lambda got: (200, {}, b"")
        fast.redeliver(dead)
        until(lambda: fast.show()["delivered"] == 2)
        assert (receiver.got[-1].id, fast.dead()) == (dead.id, [])

        first, other = fast.secret, fast.rotate_secret(overlap="1h")
        assert fast.secret == other != first
        assert fast.rotate_secret(SECRET) == SECRET
        fast.replace("a > 4", webhook={"url": receiver.url, "secret": other})
        client.publish({"id": "e3", "a": 5})
        got = until(lambda: [each for each in receiver.got if b'"e3"' in each.body])[0]
        Webhook(other).verify(got.body, got.headers)

        receiver.answer = lambda got: (410, {}, b"")
        client.publish({"id": "e4", "a": 5})
        until(lambda: fast.show()["webhook"]["state"] == "disabled")
        receiver.answer = lambda got: (200, {}, b"")
        fast.enable_webhook()
        until(lambda: fast.show()["delivered"] == 4)
        fast.replace("a > 4")
        assert "webhook" not in fast.show()


def test_ends_of_lines_within_texts_break_no_delivery(tmp_path: Path) -> None:
    """JSON lets three of them stand, at which httpx breaks the lines of a stream."""
    text = "one\x85two\u2028three\u2029four\r\nfive\x1esix"
    with (
        Server(ServerSettings(tmp_path, admin_key="a"), matcher) as server,
        tamis.Client(server.url) as client,
    ):
        counted = client.subscribe("peopleCount(?n)", id="lines")
        (id,) = client.publish({"id": "e1", "people": text})
        delivery = next(counted.deliveries())
        assert (delivery.event, delivery.bindings) == (id, [{"n": text}])
        assert counted.pending() == [delivery]
        with (
            httpx.Client(base_url=server.url, headers={"Tamis-Admin-Key": "a"}) as plain,
            plain.stream("GET", "/events?after=1") as stream,
        ):
            told = b""
            for part in stream.iter_bytes():
                told += part
                if b'"e1"' in told and told.endswith(b"\r\n\r\n"):
                    break
        assert b"one\\u0085two\\u2028three\\u2029four" in told
        assert not {"\x85", "\u2028", "\u2029"} & set(told.decode())
        with pytest.raises(tamis.ServerError) as refused:
            client.subscribe(f"{text}(?n)")
        assert refused.value.status == 422


def test_deliveries_go_on_when_the_server_comes_back(tmp_path: Path) -> None:
    seen: list[str | None] = []
    with Server(ServerSettings(tmp_path), matcher) as server:
        port = server.port
        client = tamis.Client(server.url)
        slow = client.subscribe("level > 3")
        client.publish({"id": "e1", "level": 5}, {"id": "e2", "level": 5})

        def read() -> None:
            for delivery in slow.deliveries():
                seen.append(delivery.event)
                if delivery.event == "last":
                    return

        thread = threading.Thread(target=read)
        thread.start()
        while len(seen) < 2:
            time.sleep(0.01)
    with Server(ServerSettings(tmp_path), matcher, port=port):
        client.publish({"id": "e3", "level": 9}, {"id": "last", "level": 9})
        thread.join(60)
    client.close()
    assert seen == ["e1", "e2", "e3", "last"]


def test_a_request_without_an_answer_is_made_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Server(ServerSettings(tmp_path), matcher) as server, tamis.Client(server.url) as client:
        server.wait_ready()
        real, lost = httpx.Client.request, [3]

        def request(self: httpx.Client, *about: object, **more: object) -> httpx.Response:
            answer = real(self, *about, **more)  # type: ignore[arg-type]
            if lost[0]:
                lost[0] -= 1
                raise httpx.ReadError("the answer was lost")
            return answer

        monkeypatch.setattr(httpx.Client, "request", request)
        made = client.subscribe("a = 1")
        assert made.id == "subscription-1"
        lost[0] = 2
        assert client.publish({"a": 1}) == ["event-2"]
        assert client.publish({"a": 1}, wait=True)[0]["event"] == "event-3"
        assert made.show()["due"] == 2
        lost[0] = 1
        made.unsubscribe()
        with pytest.raises(tamis.ServerError, match="there is no subscription"):
            made.show()


def test_a_request_that_is_still_under_way_is_waited_for(tmp_path: Path) -> None:
    """The client asks again when it hears nothing; the server then says that it is at it."""
    with (
        Server(ServerSettings(tmp_path), matcher) as server,
        tamis.Client(server.url, timeout_seconds=0.3) as client,
    ):
        server.wait_ready()
        holding = open_database(tmp_path)
        holding.execute("BEGIN IMMEDIATE")  # the writer waits for it
        release = threading.Timer(1.0, lambda: holding.execute("ROLLBACK"))
        release.start()
        assert client.publish({"id": "e1"}) == ["e1"]
        release.join()
        holding.close()
        assert server.service.log.state.position == 1


def test_who_is_not_there_is_told() -> None:
    with tamis.Client("http://127.0.0.1:9", tries=2) as client:
        with pytest.raises(tamis.ServerError, match="does not answer") as refused:
            client.publish({})
        assert refused.value.status is None
