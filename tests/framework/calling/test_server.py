"""Operators that ask a server that refuses, breaks and hangs: no wrong verdict, no call more."""

from __future__ import annotations

import asyncio
import http.client
import random
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

import pytest

import tamis

from .isolation.workers import reasons
from .patience import in_thread

RETRIES, THREADS, AT_ONCE = 2, 8, 6
ANSWERS = ("true", "false", "busy", "later", "broken", "gone", "hangs")
WEIGHTS = (40, 30, 12, 2, 10, 5, 1)
HANG_SECONDS = 0.7


class Server(ThreadingHTTPServer):
    """Answers each question by a seeded pattern, request by request."""

    request_queue_size = 128

    def __init__(self, seed: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.seed = seed
        self.asked: Counter[str] = Counter()
        self.lock = threading.Lock()
        self.released = threading.Event()

    def answer(self, question: str, attempt: int) -> str:
        """What is answered to the attempt of a question, by its number."""
        return random.Random(f"{self.seed} {question} {attempt}").choices(ANSWERS, WEIGHTS)[0]

    def next(self, question: str) -> str:
        """Notes a request; its answer."""
        with self.lock:
            self.asked[question] += 1
            return self.answer(question, self.asked[question])


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        answer = self.server.next(self.path)
        if answer == "hangs":
            self.server.released.wait(30)
            return
        status = {"busy": 429, "later": 429, "broken": 500, "gone": 404}.get(answer, 200)
        self.send_response(status)
        if status == 429:
            self.send_header("Retry-After", "0" if answer == "busy" else "1")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer.encode())

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def serving(seed: int) -> Iterator[Server]:
    server = Server(seed)
    thread = in_thread(server.serve_forever)
    try:
        yield server
    finally:
        server.released.set()
        server.shutdown()
        thread.join()
        server.server_close()


class Asked(NamedTuple):
    """What a question came to in the end: a truth, or unknown for a reason."""

    truth: bool | None
    reason: str = ""


class Client:
    """Asks a server, as an operator would, and notes what it saw of each question."""

    def __init__(self, server: Server) -> None:
        self.port = server.server_port
        self.seen: dict[str, list[str]] = defaultdict(list)
        self.began: list[float] = []

    def most_in_a_second(self) -> int:
        """The most requests that were sent within a second, whichever."""
        began, first, most = sorted(self.began), 0, 0
        for at, moment in enumerate(began):
            while moment - began[first] >= 1:
                first += 1
            most = max(most, at - first + 1)
        return most

    def ask(self, question: str) -> bool:
        """The answer of the server; `Transient` where it may have another one."""
        self.began.append(time.monotonic())
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=HANG_SECONDS)
        try:
            connection.request("GET", question)
            response = connection.getresponse()
            answer = response.read().decode()
        except OSError:
            self.seen[question].append("hangs")
            raise tamis.Transient("no answer") from None
        finally:
            connection.close()
        self.seen[question].append(answer)
        if response.status == 429:
            raise tamis.Transient("429", float(response.headers["Retry-After"]))
        if response.status >= 500:
            raise tamis.Transient(str(response.status))
        if response.status != 200:
            raise ValueError(str(response.status))
        return answer == "true"


def exact(server: Server, client: Client, question: str) -> Asked:
    """What a question means: by what was seen of it, else by what the server would have said."""
    seen = client.seen.get(question) or [
        server.answer(question, attempt) for attempt in range(1, RETRIES + 2)
    ]
    for attempt, answer in enumerate(seen, 1):
        if answer in ("true", "false"):
            assert attempt >= len(client.seen.get(question, ()))
            return Asked(answer == "true")
        if answer == "gone":
            assert attempt >= len(client.seen.get(question, ()))
            return Asked(None, "raised: ValueError: 404")
    assert len(seen) == RETRIES + 1
    status = {"busy": "429", "later": "429", "broken": "500", "hangs": "no answer"}[seen[-1]]
    return Asked(None, f"raised: Transient: {status}")


def operators_of(client: Client, key: tamis.Resource) -> list[tamis.Operator]:
    shared: dict[str, Any] = {"inputs": ("n",), "resource": key, "retries": RETRIES}

    @tamis.operator(**shared)
    def here(event: Any, number: int) -> bool:
        return client.ask(f"/here/{event['n']}/{number}")

    @tamis.operator(isolation="thread", timeout=60, **shared)
    def aside(event: Any, number: int) -> bool:
        return client.ask(f"/aside/{event['n']}/{number}")

    @tamis.operator(timeout=60, **shared)
    async def waiting(event: Any, number: int) -> bool:
        question = f"/waiting/{event['n']}/{number}"
        return await asyncio.get_running_loop().run_in_executor(None, client.ask, question)

    return [here, aside, waiting]


WANTED = {
    "both": "here(1) and aside(1)",
    "either": "here(2) or waiting(1)",
    "neither": "not aside(1) and not waiting(2)",
    "mixed": "(here(1) and waiting(1)) or (aside(2) and not here(2))",
}


def verdicts(ask: Any) -> dict[str, bool | None]:
    """Kleene's truths of what is wanted."""

    def both(*truths: bool | None) -> bool | None:
        return False if False in truths else None if None in truths else True

    def either(*truths: bool | None) -> bool | None:
        return True if True in truths else None if None in truths else False

    def no(truth: bool | None) -> bool | None:
        return None if truth is None else not truth

    return {
        "both": both(ask("here/{}/1"), ask("aside/{}/1")),
        "either": either(ask("here/{}/2"), ask("waiting/{}/1")),
        "neither": both(no(ask("aside/{}/1")), no(ask("waiting/{}/2"))),
        "mixed": either(
            both(ask("here/{}/1"), ask("waiting/{}/1")),
            both(ask("aside/{}/2"), no(ask("here/{}/2"))),
        ),
    }


def held_against_the_server(seed: int, events: int, rate: float) -> None:
    key = tamis.Resource("server", concurrency=AT_ONCE, calls_per_second=rate)
    with serving(seed) as server:
        client = Client(server)
        matcher = tamis.Matcher(operators_of(client, key))
        for id, where in WANTED.items():
            matcher.subscribe(where, id=id)
        numbers, results = iter(range(events)), {}
        said: set[str] = set()
        lock = threading.Lock()

        def several() -> None:
            while True:
                with lock:
                    number = next(numbers, None)
                if number is None:
                    return
                results[number] = matcher.match({"n": number})

        threads = [in_thread(several) for _ in range(THREADS)]
        for thread in threads:
            thread.join()
        assert sorted(results) == list(range(events))
        for number, result in results.items():

            def truth(question: str, number: int = number) -> bool | None:
                return exact(server, client, "/" + question.format(number)).truth

            expected = verdicts(truth)
            matched = {match.subscription for match in result.matches}
            assert matched == {id for id, each in expected.items() if each}, number
            assert set(reasons(result)) == {id for id, each in expected.items() if each is None}
            for reason in "; ".join(each.reason for each in result.undetermined).split("; "):
                if not reason:
                    continue
                predicate, _, why = reason.partition(": ")
                name, _, argument = predicate.rstrip(")").partition("(")
                assert why == exact(server, client, f"/{name}/{number}/{argument}").reason
                said.add(why)
    attempts = sum(result.account.attempts for result in results.values())
    calls = sum(result.account.calls for result in results.values())
    assert attempts == sum(map(len, client.seen.values())) > calls == len(client.seen)
    assert server.asked.total() <= attempts == len(client.began)
    # those that were let go and held up before they were sent may be sent together
    assert client.most_in_a_second() <= rate + AT_ONCE
    assert {"raised: Transient: 429", "raised: ValueError: 404"} <= said


def test_verdicts_attempts_and_rates_hold_with_a_server_that_fails() -> None:
    held_against_the_server(seed=1, events=100, rate=200)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 6))
def test_verdicts_attempts_and_rates_hold_for_thousands_of_requests(seed: int) -> None:
    held_against_the_server(seed, events=400, rate=150)
