"""Talks to a match server: requests that may be sent again, and deliveries that are resumed.

Every request that changes something has an idempotency key of its own, so that one that got no
answer is sent again until there is one, and is done once. A stream of deliveries goes on behind
the last one after whatever ended it. Imports no library before a client is made, then httpx alone.
"""

from __future__ import annotations

import json
import random
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from tamis.errors import ServerError

if TYPE_CHECKING:
    import httpx

_AGAIN = (429, 502, 503, 504)
_IN_PROGRESS = "urn:tamis:problem:in-progress"
_TRIES = 8
_FIRST_SECONDS = 0.1
_LONGEST_SECONDS = 10.0
_SILENT_SECONDS = 60.0
"""Longer than any heartbeat: a stream that says nothing for so long has ended."""


class ServerDelivery(NamedTuple):
    """A delivery that a server made: its id, its kind, and what it is about."""

    id: str
    kind: str
    event: str | None
    events: list[str]
    bindings: list[dict[str, Any]]
    time: str | None
    data: dict[str, Any]
    """All that the server says of it: `reason`, `key`, `missing` too where there are some."""

    @classmethod
    def of(cls, id: str, kind: str, data: dict[str, Any]) -> ServerDelivery:
        """Returns the delivery that a record says."""
        known = (data.get(name) for name in ("event", "events", "bindings", "time"))
        event, events, bindings, at = known
        return cls(id, kind, event, events or [], bindings or [], at, data)


class Client:
    """A client of a match server; for `with`.

    `publish_key` is needed where the server has one, `admin_key` to read what is others'."""

    def __init__(
        self,
        url: str = "http://127.0.0.1:8484",
        *,
        publish_key: str | None = None,
        admin_key: str | None = None,
        timeout_seconds: float = 30.0,
        tries: int = _TRIES,
    ) -> None:
        try:
            import httpx
        except ImportError:
            raise ServerError("tamis.Client needs httpx: pip install 'tamis[server]'") from None
        self._library = httpx
        self._http = httpx.Client(base_url=url, timeout=timeout_seconds)
        self._publish_key = publish_key
        self._admin_key = admin_key
        self._tries = tries

    def close(self) -> None:
        """Closes its connections."""
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<client of {self._http.base_url}>"

    def subscribe(
        self,
        where: str,
        *,
        id: str | None = None,
        validity: float | str | None = None,
        deliver: object = None,
        webhook: str | Mapping[str, str] | None = None,
        data: Mapping[str, Any] | None = None,
        forecast: bool = True,
    ) -> ServerSubscription:
        """Subscribes; what comes back has the ticket, which is told this once, and so is the
        secret of a webhook: an address, or `{"url": …, "secret": …}`.

        Who makes many subscriptions leaves the forecast of each out."""
        wanted = _wanted(where, validity, deliver, webhook, data)
        wanted |= {} if id is None else {"id": id}
        address = "/subscriptions" if forecast else "/subscriptions?forecast=false"
        made = self.request("POST", address, wanted)
        return ServerSubscription(self, made["id"], made["ticket"], made)

    def subscription(self, id: str, ticket: str) -> ServerSubscription:
        """Returns a subscription that was made before."""
        return ServerSubscription(self, id, ticket, {})

    def publish(self, *events: Mapping[str, Any], wait: bool = False) -> list[Any]:
        """Publishes events, all or none; their ids, or with `wait` what became of each."""
        address = "/events?wait=true" if wait else "/events"
        answer = self.request("POST", address, list(events), key=self._publish_key)
        found: list[Any] = answer["events"] if "events" in answer else answer["ids"]
        return found

    def request(
        self, method: str, address: str, body: object = None, *, key: str | None = None
    ) -> Any:
        """Sends a request, again where it may help, and reads the answer; `ServerError` says
        what the server refuses."""
        headers = self.headers(key)
        if method == "POST":
            headers["Idempotency-Key"] = str(uuid.uuid4())
        content = None if body is None else json.dumps(body)
        for number in range(self._tries):
            is_last = number + 1 == self._tries
            try:
                answer = self._http.request(method, address, content=content, headers=headers)
            except self._library.TransportError as bad:
                if is_last:
                    raise ServerError(f"{self._http.base_url} does not answer: {bad}") from bad
                time.sleep(_pause(number))
                continue
            if _is_passing(answer) and not is_last:
                time.sleep(max(_after(answer), _pause(number)))
                continue
            if method == "DELETE" and number and answer.status_code == 404:
                return None  # it was done, and the answer was lost
            if answer.is_success:
                return answer.json() if answer.content else None
            raise _error(answer)
        raise ServerError("a client tries at least once")

    def headers(self, key: str | None) -> dict[str, str]:
        """Returns the headers that say who asks."""
        found = {"Content-Type": "application/json"}
        if key is not None:
            found["Authorization"] = f"Bearer {key}"
        if self._admin_key is not None:
            found["Tamis-Admin-Key"] = self._admin_key
        return found

    def stream(self, address: str, key: str, after: str) -> Iterator[tuple[str, str, str]]:
        """Reads server-sent events until the stream ends: id, kind and data of each."""
        headers = self.headers(key) | ({"Last-Event-ID": after} if after else {})
        timeout = self._library.Timeout(30.0, read=_SILENT_SECONDS)
        with self._http.stream("GET", address, headers=headers, timeout=timeout) as answer:
            if not answer.is_success:
                answer.read()
                raise _error(answer)
            yield from _events(answer.iter_lines())


class ServerSubscription:
    """A subscription of a server, with its ticket."""

    def __init__(self, client: Client, id: str, ticket: str, made: Mapping[str, Any]) -> None:
        self._client = client
        self._address = f"/subscriptions/{quote(id, safe='')}"
        self.id = id
        self.ticket = ticket
        self.expires: str | None = made.get("expires")
        self.forecast: dict[str, Any] | None = made.get("forecast")
        self.secret: str | None = made.get("webhook", {}).get("secret")
        """Which signs what is sent to its webhook, where the server made it."""

    def __repr__(self) -> str:
        return f"<subscription {self.id!r} of {self._client!r}>"

    def _ask(self, method: str, address: str = "", body: object = None) -> Any:
        return self._client.request(method, self._address + address, body, key=self.ticket)

    def show(self) -> dict[str, Any]:
        """Returns what it says, when it ends, and how its deliveries stand."""
        found: dict[str, Any] = self._ask("GET")
        return found

    def replace(
        self,
        where: str,
        *,
        validity: float | str | None = None,
        deliver: object = None,
        webhook: str | Mapping[str, str] | None = None,
        data: Mapping[str, Any] | None = None,
    ) -> None:
        """Gives it another text, policy and webhook at once; without one, its webhook ends."""
        answer = self._ask("PUT", "", _wanted(where, validity, deliver, webhook, data))
        self.expires = answer["expires"]
        self.secret = answer.get("webhook", {}).get("secret", self.secret)

    def renew(self, validity: float | str | None = None) -> str:
        """Lets it live for so long from now, a day when nothing is said; when it ends."""
        body = {} if validity is None else {"validity": validity}
        ends: str = self._ask("POST", "/renew", body)["expires"]
        self.expires = ends
        return ends

    def unsubscribe(self) -> None:
        """Ends it."""
        self._ask("DELETE")

    def why(self, event: str) -> dict[str, Any]:
        """Says why an event of the log did or did not match it."""
        address = f"/events/{quote(event, safe='')}/why?subscription={quote(self.id, safe='')}"
        found: dict[str, Any] = self._client.request("GET", address, key=self.ticket)
        return found

    def acknowledge(self, delivery: ServerDelivery | str) -> None:
        """Says that what is up to a delivery needs no second one."""
        self._ask("POST", "/ack", {"id": _id_of(delivery)})

    def pending(self, after: str = "", limit: int = 100) -> list[ServerDelivery]:
        """Returns the deliveries that are there, from the acknowledged cursor on, or after an
        id."""
        query = f"?wait=0&limit={limit}" + (f"&after={after}" if after else "")
        return _deliveries(self._ask("GET", f"/matches{query}"))

    def dead(self, after: str = "", limit: int = 100) -> list[ServerDelivery]:
        """Returns the deliveries that its webhook did not take in all attempts; `data` says `tries`
        and `reason`."""
        query = f"?limit={limit}" + (f"&after={after}" if after else "")
        return _deliveries(self._ask("GET", f"/dead{query}"))

    def redeliver(self, delivery: ServerDelivery | str) -> None:
        """Sends a dead delivery to its webhook again."""
        self._ask("POST", f"/dead/{_id_of(delivery)}/redeliver")

    def rotate_secret(
        self, secret: str | None = None, *, overlap: float | str | None = None
    ) -> str:
        """Gives its webhook another secret; the one before signs as well for a day, or so long."""
        asked = {"secret": secret, "overlap": overlap}
        body = {name: value for name, value in asked.items() if value is not None}
        self.secret = made = str(self._ask("POST", "/webhook/rotate", body)["secret"])
        return made

    def enable_webhook(self) -> None:
        """Sends to its webhook again, at once: one that was disabled, or that waits."""
        self._ask("POST", "/webhook/enable")

    def deliveries(self, after: str = "") -> Iterator[ServerDelivery]:
        """Yields deliveries as they come, from the acknowledged cursor on, or after an id.

        What breaks off is resumed behind the last delivery. It ends with the subscription."""
        failures = 0
        while True:
            try:
                for id, kind, data in self._client.stream(
                    f"{self._address}/matches", self.ticket, after
                ):
                    failures, after = 0, id or after
                    if data:
                        yield ServerDelivery.of(id, kind, json.loads(data))
            except self._client._library.TransportError as bad:
                failures += 1
                if failures >= self._client._tries:
                    raise ServerError(f"{self._client!r} does not answer: {bad}") from bad
            except ServerError as refused:
                if refused.status == 404 and after:
                    return
                failures += 1
                if refused.status not in _AGAIN or failures >= self._client._tries:
                    raise
            time.sleep(_pause(failures))


def _wanted(
    where: str,
    validity: float | str | None,
    deliver: object,
    webhook: str | Mapping[str, str] | None,
    data: Mapping[str, Any] | None,
) -> dict[str, Any]:
    named = {"validity": validity, "deliver": deliver, "webhook": webhook}
    given = {name: value for name, value in named.items() if value is not None}
    return {**(data or {}), "where": where, **given}


def _id_of(delivery: ServerDelivery | str) -> str:
    return delivery if isinstance(delivery, str) else delivery.id


def _deliveries(records: Iterable[dict[str, Any]]) -> list[ServerDelivery]:
    return [ServerDelivery.of(each.pop("id"), each.pop("type"), each) for each in records]


def _pause(number: int) -> float:
    """Returns how long to wait before one tries again: twice as long each time, more or less."""
    longest = min(_LONGEST_SECONDS, _FIRST_SECONDS * 2.0**number)
    return random.uniform(longest / 2, longest)


def _is_passing(answer: httpx.Response) -> bool:
    """Returns whether it may help to ask again: also where the same request is not answered yet."""
    return answer.status_code in _AGAIN or (
        answer.status_code == 409 and _IN_PROGRESS in answer.text
    )


def _after(answer: httpx.Response) -> float:
    """Returns how long a server asks to wait."""
    said = answer.headers.get("retry-after", "")
    return min(_LONGEST_SECONDS, float(said)) if said.isdecimal() else 0.0


def _error(answer: httpx.Response) -> ServerError:
    """Returns what a server refuses, as an error."""
    try:
        problem = answer.json()
        detail = str(problem["detail"])
    except (ValueError, KeyError, TypeError):
        problem, detail = {}, answer.text[:500]
    return ServerError(detail, status=answer.status_code, document=problem)


def _events(lines: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    """Yields the events of a stream, as its specification says."""
    id, kind = "", ""
    data: list[str] = []
    for line in lines:
        if not line:
            yield id, kind or "message", "\n".join(data)
            kind, data = "", []
            continue
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "id":
            id = value
        elif name == "event":
            kind = value
        elif name == "data":
            data.append(value)
