"""The frames of the report, with what was detected drawn on them, and what matched below."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Sequence

from examples.uav.live.looking import FramePicture, OutlinedThing
from examples.uav.live.record import ShownMatch, shown
from examples.uav.report.markup import text

LABELS = {
    "person": ("person", "people"),
    "car": ("car", "cars"),
    "taxi": ("taxi", "taxis"),
    "policeCar": ("police car", "police cars"),
    "bus": ("bus", "buses"),
    "truck": ("truck", "trucks"),
    "tourBoat": ("tour boat", "tour boats"),
    "coastGuardBoat": ("coast guard boat", "coast guard boats"),
}
_MOST_LISTED = 3


def legend() -> str:
    """What the outlines mean; a box hides those of its label."""
    names = "".join(
        f'<label class="key"><input type="checkbox" checked id="show-{label}">'
        f'<span class="swatch {label}"></span>{many}</label>'
        for label, (_, many) in LABELS.items()
    )
    return f'<fieldset class="legend"><legend>Outlines</legend>{names}</fieldset>'


def hiding() -> str:
    """The rules by which boxes of the legend hide outlines, without a script."""
    return "".join(
        f"body:has(#show-{label}:not(:checked)) .box.{label}{{display:none}}" for label in LABELS
    )


def drawn(pictures: Sequence[FramePicture], wheres: dict[str, str]) -> str:
    """All frames that are shown."""
    return f'<div class="frames">{"".join(_figure(each, wheres) for each in pictures)}</div>'


def _figure(picture: FramePicture, wheres: dict[str, str]) -> str:
    frame = picture.frame
    lon, lat = frame.position
    counts = Counter(each.label for each in picture.things)
    seen = ", ".join(
        f"{number} {LABELS.get(label, (label, label))[number != 1]}"
        for label, number in counts.most_common()
    )
    words = f"Frame {frame.id} of {frame.camera}: {seen or 'nothing was detected'}"
    data = base64.b64encode(picture.jpeg).decode("ascii")
    boxes = "".join(_box(each) for each in picture.things)
    clock = frame.time[11:19]
    return (
        f'<figure class="frame" id="{text(frame.id)}">'
        f'<svg viewBox="0 0 {picture.width} {picture.height}" role="img" '
        f'aria-label="{text(words)}">'
        f'<image href="data:image/jpeg;base64,{data}" width="{picture.width}" '
        f'height="{picture.height}"/>{boxes}</svg>'
        f"<figcaption><p class='where'><b>{text(frame.camera)}</b> <span>{text(clock)}</span> "
        f"<span>{frame.altitude:.0f} m</span> <span>{lon:.4f}, {lat:.4f}</span></p>"
        f"<p class='seen'>{text(seen or 'nothing detected')}"
        f"{text(f' ({picture.trouble})' if picture.trouble else '')}</p>"
        f"{_matches(frame.matches, wheres)}"
        f"<p class='took'>{frame.calls} calls, {frame.spared} spared</p></figcaption></figure>"
    )


def _box(thing: OutlinedThing) -> str:
    points = " ".join(f"{x:.0f},{y:.0f}" for x, y in thing.corners)
    style = f"box {text(thing.label)}{' lit' if thing.marks else ''}"
    return f'<polygon class="{style}" points="{points}"/>'


def _matches(matches: Sequence[ShownMatch], wheres: dict[str, str]) -> str:
    paper = [each for each in matches if each.team == "paper"]
    others = [each for each in matches if each.team != "paper"]
    lines = "".join(_match(each, wheres) for each in paper)
    if not paper:
        by_team = {each.team: each for each in reversed(others)}  # the first one of each
        firsts = sorted(by_team.values(), key=others.index)[:_MOST_LISTED]
        lines = "".join(_match(each, wheres) for each in firsts)
        others = [each for each in others if each not in firsts]
    if others:
        teams = Counter(each.team for each in others)
        words = ", ".join(f"{number} of {team}" for team, number in teams.most_common())
        more = "".join(_match(each, wheres) for each in others)
        lines += (
            f"<li class='more'><details><summary>and {len(others)} more: {text(words)}</summary>"
            f"<ul class='matches'>{more}</ul></details></li>"
        )
    return f"<ul class='matches'>{lines}</ul>"


def _match(match: ShownMatch, wheres: dict[str, str]) -> str:
    bindings = ", ".join(
        f"?{name} = {shown(value)}" for name, value in next(iter(match.bindings), {}).items()
    )
    bound = f"<span class='bindings'>{text(bindings)}</span>" if bindings else ""
    style = "paper" if match.team == "paper" else "team"
    where = wheres.get(match.subscription, "")
    return (
        f"<li><b class='{style}'>{text(match.subscription)}</b> "
        f"<code>{text(where)}</code>"
        f"{bound}</li>"
    )
