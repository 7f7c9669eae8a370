"""A model server on loopback that answers from a table, and fails as it is told to."""

from __future__ import annotations

import contextlib
import json
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

KEY = "sk-Sesame0pen-7481"
PROMPT_TOKENS, ANSWER_TOKENS = 900, 11
PASSING = ("busy", "busy for a moment", "broken", "cut off", "closed", "slow")
"""What is answered when it is tried again."""
LASTING = (
    *("told no", "html", "list", "no choices", "no content", "words", "length", "filter"),
    *("refused", "twice", "deep", "echo", "hidden echo", "empty", "moved", "endless"),
)
PARTIAL = ("left out", "wrong kind", "other word")
"""What fails the first question of a request alone."""


def truth(text: str, question: str) -> bool:
    """The table: what is true of an event."""
    return zlib.crc32(f"{text} {question}".encode()) % 2 == 1


def words(text: str, question: str) -> str | None:
    """The table: what an event shows, if anything."""
    number = zlib.crc32(f"{question} {text}".encode())
    return None if number % 3 == 0 else f"number {number % 7}"


class Server(ThreadingHTTPServer):
    """The server, and what it was asked."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, fault: Callable[[str, int], str | None]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.fault = fault
        """What goes wrong with an event's text at its so many-th request."""
        self.bodies: list[dict[str, Any]] = []
        self.released = threading.Event()
        """Whether those who were asked slowly answer at last."""
        self.told = Counter[str]()
        self.asked: Counter[str] = Counter()
        self.seen_keys: set[str | None] = set()
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, *_: Any) -> None:
        """Says nothing of clients that hang up."""


class Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *_: Any) -> None:
        """Says nothing."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text, questions = asked_of(body)
        with self.server.lock:
            self.server.bodies.append(body)
            self.server.seen_keys.add(self.headers["Authorization"])
            number = self.server.asked[text]
            self.server.asked[text] += 1
        fault = self.server.fault(text, number)
        if not (fault and self._failed(fault)):
            self._answer(self._content(body, text, questions, fault), fault)

    def _content(self, body: Any, text: str, questions: dict[str, str], fault: str | None) -> str:
        form = body["response_format"]["json_schema"]["schema"]["properties"]["1"]
        if "enum" in form:
            found: dict[str, Any] = {
                number: "yes" if truth(text, each) else "no" for number, each in questions.items()
            }
        else:
            found = {number: words(text, each) for number, each in questions.items()}
        if fault == "left out":
            del found["1"]
        elif fault == "wrong kind":
            found["1"] = True
        elif fault == "other word":
            found["1"] = "perhaps" if "enum" in form else ["perhaps"]
        content = json.dumps(found)
        if fault == "twice":
            return content[:-1] + ', "1": "yes"}'
        nonsense = {
            "words": f"Yes, certainly! {content}",
            "deep": "[" * 100_000,
            "length": content[: len(content) // 2],
            "hidden echo": json.dumps(dict.fromkeys(found, KEY)).replace("S", "\\u0053"),
            "echo": json.dumps(dict.fromkeys(found, KEY)),
        }
        return nonsense.get(fault or "", content)

    def _answer(self, content: str, fault: str | None) -> None:
        message: dict[str, Any] = {"role": "assistant", "content": content}
        if fault == "refused":
            message["refusal"] = "I would rather not"
        if fault == "no content":
            message["content"] = None
        reason = {"length": "length", "filter": "content_filter"}.get(fault or "", "stop")
        reply: Any = {
            "choices": []
            if fault == "no choices"
            else [{"index": 0, "message": message, "finish_reason": reason}],
            "usage": {"prompt_tokens": PROMPT_TOKENS, "completion_tokens": ANSWER_TOKENS},
        }
        told = fault not in ("list", "echo", "cut off")
        with self.server.lock:
            if told:
                self.server.told["requests"] += 1
        self._send(200, json.dumps([reply] if fault == "list" else reply), fault == "cut off")

    def _failed(self, fault: str) -> bool:
        """Whether the fault is the whole answer."""
        if fault == "busy":
            self._send(429, error(f"too many requests for {KEY}"), headers={"Retry-After": "0"})
        elif fault == "busy for a moment":
            self._send(429, error("busy"), headers={"Retry-After": "0.02"})
        elif fault == "busy until tomorrow":
            date = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 86_400))
            self._send(503, error("busy"), headers={"Retry-After": date})
        elif fault == "broken":
            self._send(500, "<h1>no</h1>", headers={"Retry-After": "soon"})
        elif fault == "told no":
            self._send(400, error(f"Bearer {KEY} may not"))
        elif fault == "moved":
            self._send(302, "", headers={"Location": f"{self.server.url}/elsewhere"})
        elif fault == "html":
            self._send(200, "<html>")
        elif fault == "empty":
            self._send(200, "")
        elif fault == "endless":
            with contextlib.suppress(OSError):
                self._send(200, " " * (5 << 20))
        elif fault == "closed":
            self.close_connection = True
        elif fault == "slow":
            self.server.released.wait(60)
            with contextlib.suppress(OSError):
                self._send(200, "{}")
        else:
            return False
        return True

    def _send(
        self, status: int, text: str, cut: bool = False, headers: dict[str, str] | None = None
    ) -> None:
        content = text.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content[: len(content) // 2] if cut else content)
        self.close_connection = True


def error(message: str) -> str:
    return json.dumps({"error": {"message": message, "type": "table"}})


def asked_of(body: dict[str, Any]) -> tuple[str, dict[str, str]]:
    """The text of the event in a request, and the questions by number."""
    content = body["messages"][1]["content"]
    if not isinstance(content, str):
        content = "\n\n".join(part["text"] for part in content if part["type"] == "text")
    before, _, questions = content.rpartition("The questions by number: ")
    _, _, text = before.partition("The text of the event: ")
    return json.loads(text) if text.strip() else "", json.loads(questions)


@contextlib.contextmanager
def serving(
    fault: Callable[[str, int], str | None] = lambda text, number: None,
) -> Iterator[Server]:
    """A server while it is needed."""
    with Server(fault) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.released.set()
            server.shutdown()
            thread.join()
