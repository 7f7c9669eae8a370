"""Questions in words are asked together, bounded, paid for, and never answered wrongly."""

from __future__ import annotations

import base64
import contextlib
import json
import logging
import os
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tamis
from tamis.operators.shipping import packed, unpacked
from tamis.testing.conformance import LAWS, Law, LawSubject
from tamis_operators import model
from tests.operators.model import faults
from tests.operators.model.server import (
    ANSWER_TOKENS,
    KEY,
    PROMPT_TOKENS,
    Server,
    asked_of,
    serving,
    truth,
    words,
)

VARIABLES = ("TAMIS_MODEL_URL", "TAMIS_MODEL_KEY", "TAMIS_MODEL_NAME")
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg=="
)
BMP = b"BM" + bytes(8) + struct.pack("<IIHHHH", 26, 12, 1, 1, 1, 24) + bytes(4)
ALWAYS = 'asks("is there smoke?")'


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as found:
        yield found


def matcher_of(url: str, *wheres: str, **settings: Any) -> tamis.Matcher:
    matcher = tamis.Matcher(model.operators(url, KEY, **settings))
    for where in wheres or (ALWAYS,):
        matcher.subscribe(where, id=where)
    return matcher


def reason_of(url: str, event: dict[str, Any], **settings: Any) -> str:
    (found,) = matcher_of(url, **settings).match(event).undetermined
    return found.reason


def test_every_fault_is_a_reason_and_no_verdict_is_wrong(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    figures = faults.tried(48)
    assert figures.matched > 20
    assert figures.failed > 100
    assert figures.answered < figures.requests <= figures.calls
    assert figures.cost == pytest.approx(figures.answered * (0.9 + 0.11))
    shown = capfd.readouterr()
    assert KEY not in caplog.text + shown.out + shown.err


def test_answers_are_those_of_the_table(server: Server) -> None:
    questions = [f"is it {number}?" for number in range(9)]
    told = [f'describes("what is {number}?", ?t)' for number in range(9)]
    matcher = matcher_of(server.url, *(f'asks("{each}")' for each in questions), *told, name="m")
    result = matcher.match({"text": "smoke"})
    found = {each.subscription: each.bindings for each in result.matches}
    wanted: dict[str, Any] = {f'asks("{e}")': [{}] for e in questions if truth("smoke", e)}
    for number, each in enumerate(told):
        shown = words("smoke", f"what is {number}?")
        if shown is not None:
            wanted[each] = [{"t": shown}]
    assert found == wanted
    assert not result.undetermined
    assert [len(asked_of(body)[1]) for body in server.bodies] == [9, 9]
    assert {body["model"] for body in server.bodies} == {"m"}
    schema = server.bodies[0]["response_format"]["json_schema"]
    assert schema["strict"] is True
    assert schema["schema"]["required"] == [str(number) for number in range(1, 10)]
    again = matcher.match({"text": "smoke"})
    assert (again.account.calls, len(again.matches)) == (0, len(wanted))
    assert len(server.bodies) == 2


def test_a_constant_in_the_place_of_the_text_is_compared(server: Server) -> None:
    shown = words("smoke", "what is 3?")
    assert shown is not None
    where = [f'describes("what is 3?", "{each}")' for each in (shown, "other")]
    result = matcher_of(server.url, *where).match({"text": "smoke"})
    assert [each.subscription for each in result.matches] == where[:1]
    assert len(server.bodies) == 1


def test_many_questions_are_several_requests(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[tuple[float, int]] = []
    monkeypatch.setattr(
        "tamis_operators.model.question.time",
        SimpleNamespace(sleep=lambda seconds: waits.append((seconds, len(server.bodies)))),
    )
    wheres = [f'asks("is it {number}?")' for number in range(25)]
    matcher = matcher_of(server.url, *wheres, most_questions=10, calls_per_second=20)
    assert not matcher.match({"text": "smoke"}).undetermined
    assert [len(asked_of(body)[1]) for body in server.bodies] == [10, 10, 5]
    assert waits == [(0.05, 1), (0.05, 2)]


def test_pictures_are_sent_as_they_are(server: Server, tmp_path: Path) -> None:
    path = tmp_path / "frame.png"
    path.write_bytes(PNG)
    uri = "data:image/png;base64," + base64.b64encode(PNG).decode()
    matcher = matcher_of(server.url)
    for image in (str(path), PNG, uri):
        matcher = matcher_of(server.url)
        result = matcher.match({"image": image, "text": "smoke"})
        assert not result.undetermined
        assert [each["type"] for each in server.bodies[-1]["messages"][1]["content"]] == [
            *("text", "image_url", "text")
        ]
        assert server.bodies[-1]["messages"][1]["content"][1]["image_url"]["url"] == uri


def test_arrays_are_sent_as_png(server: Server) -> None:
    cv2 = pytest.importorskip("cv2")
    for shape in ((3, 5, 3), (3, 5)):
        pixels = np.arange(np.prod(shape), dtype=np.uint8).reshape(shape)
        assert not matcher_of(server.url).match({"image": pixels}).undetermined
        url = server.bodies[-1]["messages"][1]["content"][0]["image_url"]["url"]
        content = np.frombuffer(base64.b64decode(url.partition(",")[2]), np.uint8)
        decoded = cv2.imdecode(content, cv2.IMREAD_COLOR)
        assert np.array_equal(decoded, np.broadcast_to(pixels.reshape(3, 5, -1), (3, 5, 3)))


@pytest.mark.parametrize(
    ("event", "settings", "reason"),
    [
        ({}, {}, "the event has neither image nor text"),
        ({"text": 7}, {}, "text is a text, not 7"),
        ({"text": "smoke" * 9}, {"most_letters": 44}, "text has 45 letters: 44 are allowed"),
        ({"image": BMP}, {}, "models take jpeg, png, webp, and the image is bmp"),
        ({"image": PNG}, {"most_image_bytes": 50}, "50 are allowed"),
        ({"image": "http://127.0.0.1/a.png"}, {}, "nothing is fetched by http:"),
        ({"image": PNG[:40]}, {}, "ends early"),
        ({"image": np.zeros((2, 2))}, {}, "it is of uint8"),
    ],
)
def test_what_is_not_sent(
    server: Server, event: dict[str, Any], settings: dict[str, Any], reason: str
) -> None:
    assert reason in reason_of(server.url, event, **settings)
    assert server.bodies == []


def test_without_an_address_a_subscription_is_told_what_to_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for operators in (model.operators(), model.tamis_operators()):
        with pytest.raises(tamis.SubscriptionError) as caught:
            tamis.Matcher(operators).subscribe(ALWAYS)
        assert "there is no model yet: set TAMIS_MODEL_URL to the address" in caught.value.problem
    monkeypatch.setenv("TAMIS_MODEL_URL", "file:///etc/passwd")
    with pytest.raises(tamis.SubscriptionError, match="begins with http:// or https://"):
        tamis.Matcher(model.tamis_operators()).subscribe(ALWAYS)


def test_the_environment_sets_it_up(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    values = (server.url + "/chat/completions", KEY, "large")
    for name, value in zip(VARIABLES, values, strict=True):
        monkeypatch.setenv(name, value)
    matcher = tamis.Matcher(model.tamis_operators())
    matcher.subscribe(ALWAYS)
    assert not matcher.match({"text": "smoke"}).undetermined
    assert server.seen_keys == {f"Bearer {KEY}"}
    assert server.bodies[0]["model"] == "large"


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"url": "ftp://host"}, "begins with http:// or https://"),
        ({"url": "http://"}, "and a host"),
        ({"url": "http://host:port"}, "and a host"),
        ({"url": f"http://me:{KEY}@host"}, "holds no password: set TAMIS_MODEL_KEY"),
        ({"url": "http://host/a b"}, "without spaces"),
        ({"key": f"{KEY}\nX: y"}, "letters that no header takes"),
        ({"most_questions": 0}, "most_questions of a model is a whole number of at least 1"),
        ({"prompt_price": -1}, "prompt_price of a model is a number of at least 0"),
        ({"body": {"seed": {1}}}, "body of a model is an object of JSON"),
        ({"retries": -1}, "retries of asks"),
    ],
)
def test_settings_are_checked(settings: dict[str, Any], problem: str) -> None:
    with pytest.raises(tamis.OperatorError) as caught:
        model.operators(**{"url": "http://host", **settings})
    assert problem in str(caught.value)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("question", ["", "  ", "a\u200b?", "why " * 600])
def test_questions_are_checked(question: str) -> None:
    with pytest.raises(tamis.SubscriptionError, match="question"):
        matcher_of("http://127.0.0.1:1", f'asks("{question}")')


def test_a_key_stays_in_its_process(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    (record, _) = model.operators(f"{server.url}?version={KEY}", KEY)
    assert KEY not in repr(record.specification)
    (record, _) = model.operators(server.url, KEY)
    sent = packed([record])
    assert KEY.encode() not in sent
    monkeypatch.setenv("TAMIS_MODEL_KEY", "another")
    (there,) = unpacked(sent)
    matcher = tamis.Matcher([there])
    matcher.subscribe(ALWAYS)
    assert not matcher.match({"text": "smoke"}).undetermined
    assert server.seen_keys == {"Bearer another"}


def test_nobody_at_the_address() -> None:
    with contextlib.closing(Server(lambda *_: None).socket) as taken:
        port = taken.getsockname()[1]
    reason = reason_of(f"http://127.0.0.1:{port}/v1?code={KEY}", {"text": "smoke"}, retries=1)
    assert f"no answer of the model at http://127.0.0.1:{port}/v1/chat/completions" in reason
    assert KEY not in reason


def test_a_wait_that_does_not_fit_is_not_begun() -> None:
    with serving(lambda *_: "busy until tomorrow") as server:
        began = time.monotonic()
        assert "answered 503: busy" in reason_of(server.url, {"text": "smoke"})
        assert time.monotonic() - began < 60
        assert len(server.bodies) == 1


def test_retries_and_timeouts() -> None:
    with serving(lambda _, number: "busy" if number < 2 else None) as server:
        assert "too many requests for …" in reason_of(server.url, {"text": "smoke"}, retries=1)
        result = matcher_of(server.url).match({"text": "smoke"})
        assert (result.undetermined, result.account.attempts) == ([], 1)
    with serving(lambda *_: "slow") as server:
        reason = reason_of(server.url, {"text": "smoke"}, attempt_seconds=0.05, retries=1)
        assert "the model did not answer in 0.05 s" in reason
        ends = time.monotonic() + 60
        while len(server.bodies) < 2:  # the server may not have read them yet
            assert time.monotonic() < ends
            time.sleep(0.01)
        assert "timed out" in reason_of(server.url, {"text": "smoke"}, timeout=0.1)
        result = matcher_of(server.url).match({"text": "smoke"}, deadline_seconds=0.1)
        assert "deadline" in result.undetermined[0].reason


def test_tokens_are_counted_and_budgets_kept(server: Server) -> None:
    prices = {"prompt_price": 0.001, "answer_price": 0.01, "prompt_tokens": 900}
    one, two = ALWAYS, 'asks("is it blue?")'
    matcher = matcher_of(server.url, one, two, **prices)
    asks = model.operators(server.url, **prices)[0].specification  # type: ignore[arg-type]
    assert asks.cost == pytest.approx((900 + 24) * 0.001 + 8 * 0.01)
    assert asks.marginal_cost == pytest.approx(24 * 0.001 + 8 * 0.01)
    poor = matcher.match({"text": "a"}, budget=tamis.Budget(cost=asks.cost / 2))
    assert {each.reason.partition(":")[0] for each in poor.undetermined} == {"budget"}
    assert server.bodies == []
    matcher.match({"text": "a"}, budget=tamis.Budget(cost=2 * asks.cost))
    (spent,) = [each for each in model.usage() if each.url.startswith(server.url)]
    assert (spent.requests, spent.prompt_tokens, spent.answer_tokens, spent.untold) == (
        *(1, PROMPT_TOKENS, ANSWER_TOKENS, 0),
    )
    assert spent.cost == pytest.approx(PROMPT_TOKENS * 0.001 + ANSWER_TOKENS * 0.01)


def test_a_body_of_the_users(server: Server) -> None:
    body = {"temperature": None, "seed": 7, "max_tokens": 9}
    assert not matcher_of(server.url, body=body).match({"text": "a"}).undetermined
    (sent,) = server.bodies
    assert "temperature" not in sent
    assert (sent["seed"], sent["max_tokens"]) == (7, 9)


@pytest.mark.parametrize("law", LAWS, ids=[law.name for law in LAWS])
@pytest.mark.parametrize("place", [0, 1], ids=["asks", "describes"])
def test_conforms(server: Server, place: int, law: Law) -> None:
    law.hold(LawSubject(model.operators(server.url, "", attempt_seconds=5)[place]))


def test_listing_brings_no_http() -> None:
    program = (
        "import sys, tamis\n"
        "from tamis_operators import model\n"
        "before = set(sys.modules)\n"
        "matcher = tamis.Matcher(model.operators('http://127.0.0.1:1', ''))\n"
        f"matcher.subscribe({ALWAYS!r})\n"
        "print('tamis_operators.model.exchange' in sys.modules, 'cv2' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "False False\n", done.stderr


def test_a_run_tells_what_was_spent(server: Server, tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text('{"id": "s", "where": "asks(\\"is there smoke?\\")"}\n')
    (tmp_path / "e.jsonl").write_text('{"id": "a", "text": "smoke"}\n{"id": "b", "text": "sun"}\n')
    command = (
        *(sys.executable, "-m", "tamis", "match", "--subscriptions", "s.jsonl"),
        *("--events", "e.jsonl", "--report", "r.json"),
    )
    settings = {"TAMIS_MODEL_URL": server.url, "TAMIS_MODEL_KEY": KEY}
    ended = subprocess.run(
        command,
        cwd=tmp_path,
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    tokens = {"prompt_tokens": 2 * PROMPT_TOKENS, "answer_tokens": 2 * ANSWER_TOKENS}
    spent = {"asks": {"requests": 2, **tokens, "cost": 0.0}}
    assert json.loads((tmp_path / "r.json").read_text())["spent"] == spent
    prompt, answer = tokens.values()
    words = f"asks spent 2 requests, {prompt:,} prompt tokens, {answer:,} answer tokens, 0 cost"
    assert f"note: {words}\n" in ended.stderr
    assert KEY not in ended.stderr + ended.stdout


def test_what_cannot_be_said_ends_no_run() -> None:
    class Careless(tamis.Operator):
        specification = tamis.Specification("careless")

        def spent(self) -> dict[str, float]:
            return {"beads": "many"}  # type: ignore[dict-item]

    matcher = tamis.Matcher([Careless()])
    matcher.subscribe("careless()")
    with pytest.warns(tamis.PluginWarning, match="careless cannot say what it spent"):
        assert matcher.operators.spent() == {}
