"""Makes pictures of the page: of a server that runs, or of one with a small scene of its own.

`python -m tests.server.page_pictures --to FOLDER [--url URL | --demo]`, with the system's Chromium;
`--demo` makes the two of `examples/uav/README.md`, of its flights.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import itertools
import json
import os
import random
import struct
import tempfile
import time
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import tamis
from tests.browsing import opened
from tests.server.conftest import served

WIDTHS = {"wide": (1366, "light"), "narrow": (390, "light"), "dark": (1366, "dark")}
_KEY = "open sesame"
_SEED, _EVENTS, _SUBSCRIPTIONS = 7, 220, 160
_FLOWN, _OF_DEMO = 120, {"now": 1240, "event": 740}
"""Events of the demo, and how much is shown of which views: photographs make large files."""
_MOST_MATCHED = """() => [...document.querySelectorAll('#feed li')]
  .map((each) => [Number(each.innerText.match(/and (\\d+) more/)?.[1] ?? 0),
    each.querySelector("a[href^='#event/']").getAttribute('href')])
  .sort((one, other) => other[0] - one[0])[0][1]"""
_HEIGHT, _WIDTH = 180, 320
_COLORS = {"car": (208, 211, 214), "bus": (238, 238, 236), "boat": (242, 196, 52)}
_SIZES = {"car": (14, 7), "bus": (34, 11), "boat": (44, 14)}


def things_of(event: Mapping[str, Any]) -> list[tuple[str, int, int]]:
    """What is on a frame: labels and corners."""
    made = random.Random(int(event["frame"]))
    labels = made.choices(list(_SIZES), [8, 2, 1], k=made.randrange(9))
    return [(each, made.randrange(_WIDTH - 50), made.randrange(_HEIGHT - 20)) for each in labels]


@tamis.operator(inputs=("frame",), outputs=("count",))
def carCount(event: Mapping[str, Any], count: object) -> list[int]:
    time.sleep(0.003)
    return [sum(label == "car" for label, *_ in things_of(event))]


@tamis.operator(inputs=("frame",), outputs=("thing",))
def thingSeen(event: Mapping[str, Any], thing: object) -> list[str]:
    time.sleep(0.008)
    found = []
    for label, x, y in things_of(event):
        wide, tall = _SIZES[label]
        corners = [[x, y], [x + wide, y], [x + wide, y + tall], [x, y + tall]]
        found.append(json.dumps([label, corners]))
    return found


@tamis.operator(inputs=("frame", "battery"))
def smoke(event: Mapping[str, Any], level: float) -> bool:
    time.sleep(0.001)
    if event["battery"] < 3:
        raise RuntimeError("the camera is out of power")
    return random.Random(f"{event['frame']} smoke").random() > level


def _png(pixels: Any) -> str:
    """The picture as a `data:` URI."""
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)

    def chunk(kind: bytes, data: bytes) -> bytes:
        checked = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + checked

    header = struct.pack(">IIBBBBB", pixels.shape[1], pixels.shape[0], 8, 2, 0, 0, 0)
    parts = chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b"")
    written = b"\x89PNG\r\n\x1a\n" + b"".join(parts)
    return "data:image/png;base64," + base64.b64encode(written).decode()


def events() -> Iterator[dict[str, Any]]:
    """Frames of six cameras that fly over a city."""
    made = random.Random(_SEED)
    places = [[-73.98 + made.gauss(0, 0.07), 40.73 + made.gauss(0, 0.06)] for _ in range(6)]
    for at in range(_EVENTS):
        place = places[at % 6]
        place[0] += made.gauss(0.001, 0.002)
        place[1] += made.gauss(0, 0.002)
        event = {
            "id": f"frame-{at}",
            "frame": at, "camera": f"uav-{at % 6 + 1}", "position": list(place),
            "altitude": made.randrange(30, 130), "battery": made.randrange(100),
        }  # fmt: skip
        pixels = np.full((_HEIGHT, _WIDTH, 3), (92, 122, 64), np.uint8)
        pixels[60:120] = (78, 80, 84)
        pixels[56:60] = pixels[120:124] = (148, 144, 136)
        for label, x, y in things_of(event):
            wide, tall = _SIZES[label]
            pixels[y : y + tall, x : x + wide] = _COLORS[label]
        yield event | {"image": _png(pixels)}


def subscriptions() -> Iterator[dict[str, Any]]:
    """What some teams ask for."""
    made = random.Random(_SEED)
    for at in range(_SUBSCRIPTIONS):
        camera, altitude = f"uav-{made.randrange(1, 7)}", made.randrange(30, 120)
        wanted = made.choice(
            (
                f"carCount(?n) and ?n > {made.randrange(1, 6)}",
                f"smoke({made.choice((0.6, 0.8, 0.9))}) and carCount(?n) and ?n > 2",
                f"smoke({made.choice((0.6, 0.9))})",
            )
        )
        yield {
            "id": f"team-{at}",
            "where": f"camera = '{camera}' and altitude < {altitude} and {wanted}",
        }
    yield {
        "id": "things",
        "where": "carCount(?n) and ?n > 1 and thingSeen(?thing)",
    }


@contextlib.contextmanager
def scene() -> Iterator[str]:
    """A server with a scene, by its address."""
    operators = [carCount, thingSeen, smoke]
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder), lambda: tamis.Matcher(operators), admin_key=_KEY) as client,
    ):
        for each in subscriptions():
            client.post("/subscriptions", json=each).raise_for_status()
        client.post("/events?wait=true", json=list(events())).raise_for_status()
        yield str(client.base_url).rstrip("/")


@contextlib.contextmanager
def flights() -> Iterator[str]:
    """A server to which the demo's drones have published for a while, by its address."""
    from examples.uav import comparison, demo

    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder), lambda: comparison.matcher_of([]), admin_key=_KEY) as client,
        tamis.Client(str(client.base_url), admin_key=_KEY) as publisher,
    ):
        flown = demo.Flights(publisher)
        flown.subscribe()
        for seen in itertools.islice(demo.simulation().observations(), _FLOWN):
            flown.publish(seen)
        yield str(client.base_url).rstrip("/")


def views_of(page: Any) -> dict[str, str]:
    """Names the views to take: the listed event that matched most, what the last one matched."""
    page.wait_for_selector("#feed a[href^='#event/']")
    event = page.evaluate(_MOST_MATCHED)
    subscription = page.get_attribute("#feed a[href^='#subscriptions/']", "href")
    return {
        "now": "#now", "event": event, "subscriptions": "#subscriptions",
        "subscription": subscription, "operators": "#operators",
    }  # fmt: skip


def take(url: str, key: str, folder: Path, chosen: Mapping[str, int]) -> Iterator[Path]:
    """Takes the pictures, each a file that it yields; of chosen views what a wide screen shows."""
    folder.mkdir(parents=True, exist_ok=True)
    with opened() as browser:
        for name, (width, scheme) in WIDTHS.items():
            if chosen and name != "wide":
                continue
            view = {"width": width, "height": 900}
            page = browser.new_page(viewport=view, color_scheme=scheme)
            page.goto(url)
            page.evaluate("key => sessionStorage.setItem('tamis.admin', key)", key)
            page.reload()
            for title, address in views_of(page).items():
                if chosen:
                    if title not in chosen:
                        continue
                    page.set_viewport_size({"width": width, "height": chosen[title]})
                page.evaluate("address => { location.hash = address; }", address)
                page.wait_for_timeout(2_000)
                if title == "subscriptions":
                    page.fill("#new-where", "smoke(0.9) and\ncarCont(?n) and ?n > 3")
                    page.wait_for_selector(".error")
                path = folder / f"{title}-{name}.png"
                page.screenshot(path=path, full_page=not chosen and title != "subscriptions")
                yield path
            page.close()


def main() -> None:
    """Takes pictures of a server that is given, or of the scene."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, default=Path("page-pictures"))
    parser.add_argument("--url", help="a server that runs; the admin key is in TAMIS_ADMIN_KEY")
    parser.add_argument("--demo", action="store_true", help="of the flights of examples/uav")
    asked = parser.parse_args()
    with contextlib.ExitStack() as stack:
        url = asked.url or stack.enter_context(flights() if asked.demo else scene())
        key = os.environ.get("TAMIS_ADMIN_KEY", "") if asked.url else _KEY
        for path in take(url, key, asked.to, _OF_DEMO if asked.demo else {}):
            print(path)


if __name__ == "__main__":
    main()
