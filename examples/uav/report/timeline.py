"""The timeline of the report: when each of the paper's subscriptions and each team was matched.

One row each, one mark a frame; below, the calls of each frame beside those that were spared.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable

from examples.uav.live.record import DemoRun, Frame
from examples.uav.report.markup import text

_WIDTH, _LEFT, _RIGHT = 1000, 92, 64
_ROW, _BARS = 26, 90


def drawn(run: DemoRun, shown: Iterable[str]) -> str:
    """The timeline as SVG; it scrolls by itself where the window is narrow."""
    if not run.frames:
        return "<p>No frame was matched.</p>"
    linked = set(shown)
    times = [_epoch(frame) for frame in run.frames]
    first, last = min(times), max(times)
    length = max(1.0, last - first)

    def x(moment: float) -> float:
        return _LEFT + (moment - first) / length * (_WIDTH - _LEFT - _RIGHT)

    rows = [*sorted(id for id, team in run.teams.items() if team == "paper")]
    teams = list(dict.fromkeys(team for team in run.teams.values() if team != "paper"))
    height = 30 + _ROW * (len(rows) + len(teams)) + _BARS + 56
    parts = [
        (
            f'<div class="wide" role="region" aria-label="Timeline" tabindex="0">'
            f'<svg class="timeline" viewBox="0 0 {_WIDTH} {height}" role="img" '
            f'aria-labelledby="times-title"><title id="times-title">Matches over time, by '
            f"subscription and team, and the calls of each frame</title>"
        ),
    ]
    y = 24.0
    for name in rows:
        marks = [frame for frame in run.frames if name in frame.subscriptions]
        parts.append(_row(name, y, len(marks), "paper"))
        parts += [_mark(frame, x(_epoch(frame)), y, "paper", frame.id in linked) for frame in marks]
        y += _ROW
    for team in teams:
        found = [
            (frame, number)
            for frame in run.frames
            if (number := sum(each.team == team for each in frame.matches))
        ]
        parts.append(_row(team, y, sum(number for _, number in found), "team"))
        parts += [
            f'<circle class="dot some" cx="{x(_epoch(frame)):.1f}" cy="{y:.0f}" '
            f'r="{min(7.0, 1.6 + number**0.5):.1f}"><title>{text(frame.id)}: {number} of '
            f"{text(team)}</title></circle>"
            for frame, number in found
        ]
        y += _ROW
    y += _BARS + 14
    parts += _bars(run, x, y)
    parts += _clock(first, length, x, y + 20, run.frames[0].time)
    return "".join([*parts, "</svg></div>"])


def _epoch(frame: Frame) -> float:
    return datetime.datetime.fromisoformat(frame.time.replace("Z", "+00:00")).timestamp()


def _row(name: str, y: float, number: int, style: str) -> str:
    return (
        f'<line class="rule" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.0f}" y2="{y:.0f}"/>'
        f'<text class="row {style}" x="{_LEFT - 12}" y="{y + 4:.0f}" text-anchor="end">'
        f"{text(name)}</text>"
        f'<text class="count" x="{_WIDTH - 8}" y="{y + 4:.0f}" text-anchor="end">{number:,}</text>'
    )


def _mark(frame: Frame, x: float, y: float, style: str, linked: bool) -> str:
    mark = (
        f'<rect class="mark {style}" x="{x - 1.6:.1f}" y="{y - 7:.0f}" width="3.2" height="14" '
        f'rx="1"><title>{text(frame.id)}, {text(frame.camera)}</title></rect>'
    )
    if not linked:
        return mark
    return f'<a href="#{text(frame.id)}" aria-label="{text(frame.id)}; show the frame">{mark}</a>'


def _bars(run: DemoRun, x: Callable[[float], float], bottom: float) -> list[str]:
    most = max(max(frame.calls + frame.spared for frame in run.frames), 1)
    times = sorted({_epoch(frame) for frame in run.frames})
    step = (x(times[-1]) - x(times[0])) / max(1, len(run.frames))
    width = max(0.8, min(8.0, step * 0.8))
    parts = [
        (
            f'<text class="row" x="{_LEFT - 12}" y="{bottom - _BARS / 2:.0f}" text-anchor="end">'
            "calls</text>"
        )
    ]
    seen: dict[float, int] = {}
    for frame in run.frames:
        moment = _epoch(frame)
        nth = seen[moment] = seen.get(moment, -1) + 1
        at = x(moment) + nth * step
        made = _BARS * frame.calls / most
        spared = _BARS * frame.spared / most
        words = f"{frame.id}: {frame.calls} calls, {frame.spared} spared"
        parts.append(
            f'<g><title>{text(words)}</title><rect class="made" x="{at:.1f}" '
            f'y="{bottom - made:.1f}" width="{width:.1f}" height="{made:.1f}"/>'
            f'<rect class="spared" x="{at:.1f}" y="{bottom - made - spared:.1f}" '
            f'width="{width:.1f}" height="{spared:.1f}"/></g>'
        )
    parts.append(
        f'<text class="count" x="{_WIDTH - 8}" y="{bottom - _BARS + 10:.0f}" text-anchor="end">'
        f"{most}</text>"
        f'<text class="count" x="{_WIDTH - 8}" y="{bottom:.0f}" text-anchor="end">0</text>'
    )
    return parts


def _clock(
    first: float, length: float, x: Callable[[float], float], y: float, time: str
) -> list[str]:
    """Marks of the clock, by the events' own offset."""
    zone = datetime.datetime.fromisoformat(time.replace("Z", "+00:00")).tzinfo
    step = next(each for each in (5, 10, 30, 60, 300, 900, 3600, 86400) if length / each <= 8)
    parts, moment = [], (first // step + (first % step > 0)) * step
    while moment <= first + length:
        words = datetime.datetime.fromtimestamp(moment, zone).strftime("%H:%M:%S")
        parts.append(
            f'<text class="clock" x="{x(moment):.0f}" y="{y:.0f}" text-anchor="middle">'
            f"{words}</text>"
        )
        moment += step
    return parts
