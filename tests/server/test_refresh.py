"""Operators whose sources change while a server matches, and while it is down."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import tamis
from tamis.operators import record_of
from tamis.server.service import ServerSettings
from tamis.server.serving import Server
from tests.server.conftest import Client
from tests.server.test_subscriptions import ADMIN, problem

REFUSED = 422, "bad-subscription"


class Places:
    """Places, which may be others when they are looked at again, and an operator that is held."""

    def __init__(self) -> None:
        self.known = {"Bronx", "Queens"}
        self.is_held, self.goes_on = Event(), Event()
        self._version = 0

    def renewed(self) -> list[tamis.OperatorRecord]:
        self._version += 1
        known = set(self.known)

        def check(place: str) -> None:
            if place not in known:
                raise ValueError(f"no place {place}")

        @tamis.operator(inputs=("place",), version=str(self._version), check=check)
        def isIn(event: Any, place: str) -> bool:
            return bool(event["place"] == place)

        return [replace(record_of(isIn), renewed=self.renewed)]

    def matcher(self) -> tamis.Matcher:
        @tamis.operator(inputs=("held",))
        def isHeld(event: Any) -> bool:
            self.is_held.set()
            return self.goes_on.wait(30)

        return tamis.Matcher([*self.renewed(), isHeld])


def test_a_text_is_taken_whose_operator_refuses_it_when_its_turn_comes(tmp_path: Path) -> None:
    places, settings = Places(), ServerSettings(tmp_path, admin_key="the admin key")
    reason = "isIn(Bronx): raised: OperatorError: not taken any more: isIn: no place Bronx"
    with Server(settings, places.matcher) as server:
        server.wait_ready()
        with Client(base_url=server.url, timeout=30) as client:
            client.subscribed("isHeld()", id="holds")
            client.post("/events", json={"held": True})
            assert places.is_held.wait(30)
            client.subscribed("isIn(Bronx)", id="bronx")
            client.subscribed("isIn(Queens)", id="queens")
            places.known.remove("Bronx")
            assert server.service.matching.matcher.refresh() == ["isIn"]
            places.goes_on.set()
            assert client.published({"id": "e1", "place": "Queens"}) == ["queens"]
            told = client.get("/events/e1/why?subscription=bronx", headers=ADMIN).json()
            assert told["verdict"] == "undetermined"
            assert reason in told["because"]
            closest = client.get("/events/e1/why", headers=ADMIN).json()["closest"]
            assert [each["subscription"] for each in closest] == ["bronx", "holds"]
            problem(client.post("/subscriptions", json={"where": "isIn(Bronx)"}), *REFUSED)
    with Server(settings, places.matcher) as server:
        server.wait_ready()
        with Client(base_url=server.url, timeout=30) as client:
            assert client.published({"place": "Queens"}, {"place": "Bronx"}) == ["queens", ""]
            places.known.add("Bronx")
            assert server.service.matching.matcher.refresh() == ["isIn"]
            assert client.published({"place": "Bronx"}) == ["bronx"]


def test_an_operator_that_refuses_a_text_just_after_it_was_checked(tmp_path: Path) -> None:
    asked: list[str] = []

    def check(place: str) -> None:
        asked.append(place)
        if asked.count(place) > 2:  # to look at all that is wrong with it, and to take it
            raise ValueError(f"no place {place}")

    @tamis.operator(inputs=("place",), check=check)
    def isIn(event: Any, place: str) -> bool:
        return bool(event["place"] == place)

    with Server(ServerSettings(tmp_path), lambda: tamis.Matcher([isIn])) as server:
        server.wait_ready()
        with Client(base_url=server.url, timeout=30) as client:
            for at, address in enumerate(("/subscriptions", "/subscriptions?dry_run=true")):
                refused = client.post(address, json={"where": f"isIn(p{at})"})
                assert f"no place p{at}" in problem(refused, *REFUSED)["detail"]


def test_an_operator_that_a_thread_makes_during_a_refresh_is_made_once() -> None:
    versions = iter("123")
    made: list[object] = []

    @tamis.operator(inputs=("place",))
    def isAt(event: Any) -> bool:
        return True

    def another() -> tamis.Operator:
        made.append(isAt)
        return isAt

    def renewed() -> list[tamis.OperatorRecord]:
        specification = replace(isIn.specification, version=next(versions))
        return [tamis.OperatorRecord(specification, factory, renewed=renewed)]

    @tamis.operator(inputs=("place",))
    def isIn(event: Any) -> bool:
        return True

    def factory() -> tamis.Operator:
        if matcher.operators.records["isIn"].specification.version == "1" and len(matcher):
            matcher.operators.operator("isAt")  # as a thread may that reads a text
        return isIn

    matcher = tamis.Matcher([*renewed(), tamis.OperatorRecord(isAt.specification, another)])
    matcher.subscribe("isIn()")
    assert matcher.refresh() == ["isIn"]
    matcher.subscribe("isAt()")
    assert len(made) == 1
