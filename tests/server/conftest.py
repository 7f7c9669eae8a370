"""Match servers for tests: real ones, on a free port of this machine."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest

import tamis
from tamis.server import service
from tamis.server.service import ServerSettings
from tamis.server.serving import Server

Found = TypeVar("Found")


@tamis.operator(inputs=("people",), outputs=("count",))
def peopleCount(event: Any, count: object) -> list[object]:
    if event["people"] == "broken":
        raise RuntimeError("the camera is broken")
    return [event["people"]]


def matcher() -> tamis.Matcher:
    return tamis.Matcher(operators=[peopleCount])


class Client(httpx.Client):
    """A client of a server, which is patient, with a word for what tests do most."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"timeout": 60, **settings})

    def subscribed(self, where: str, **more: object) -> tuple[str, dict[str, str]]:
        """Subscribes; the address of the subscription, and the headers of its ticket."""
        answer = self.post("/subscriptions", json={"where": where, **more})
        assert answer.status_code == 201, answer.text
        made = answer.json()
        return f"/subscriptions/{made['id']}", {"Authorization": f"Bearer {made['ticket']}"}

    def published(self, *events: Mapping[str, object]) -> list[str]:
        """Publishes, and waits for the verdicts; what each matched."""
        answer = self.post("/events?wait=true", json=list(events))
        assert answer.status_code == 200, answer.text
        return [",".join(each["matches"]) for each in answer.json()["events"]]

    def sample(self, name: str) -> float:
        """Returns a metric of the server that has no labels."""
        return float(self.get("/metrics").text.partition(f"\n{name} ")[2].partition("\n")[0])


Serving = Callable[..., contextlib.AbstractContextManager[Client]]


def until(found: Callable[[], Found]) -> Found:
    """Waits until something is found; what."""
    ends = time.monotonic() + 60
    while not (what := found()):
        assert time.monotonic() < ends
        time.sleep(0.01)
    return what


@contextlib.contextmanager
def served(
    folder: Path, make: Callable[[], tamis.Matcher] = matcher, **settings: Any
) -> Iterator[Client]:
    with Server(ServerSettings(folder, **settings), make) as server:
        server.wait_ready()
        with Client(base_url=server.url) as client:
            yield client


@pytest.fixture(autouse=True)
def _no_loop_is_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """Events are refused for what a test says, and not for what the machine does beside it."""
    monkeypatch.setattr(service, "MOST_LATE_SECONDS", 600.0)


@pytest.fixture
def serving(tmp_path: Path) -> Serving:
    """Serves a folder of one test, again after it ended."""
    return lambda **settings: served(tmp_path / "data", **settings)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A client of a server that the tests of a module share: each names things of its own."""
    with served(tmp_path_factory.mktemp("data"), admin_key="the admin key") as client:
        yield client
