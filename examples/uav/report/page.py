"""The page as a whole: its sections in order, its style, and the run's numbers in it as JSON.

It names no other resource: pictures are data, there is no script, and a policy in the page forbids
both. What is said in words comes from the run.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from examples.uav.live.looking import FrameExplanations, FramePicture
from examples.uav.live.record import DemoRun
from examples.uav.report import explained as why
from examples.uav.report import map as city
from examples.uav.report import pictures, tables, timeline
from examples.uav.report.markup import text, whole

_STYLE = Path(__file__).with_name("style.css")
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
SECTIONS = {
    "map": "Where it was seen",
    "paper": "What the paper asked",
    "frames": "What the frames show",
    "timeline": "When it happened",
    "account": "What it took",
    "planners": "What others would have called",
    "why": "Why, and why not",
    "learned": "What was known before",
    "made": "How this was made",
}


def of(run: DemoRun, shown: Sequence[FramePicture], explained: FrameExplanations) -> str:
    """The report of a run."""
    ids = [picture.frame.id for picture in shown]
    wheres = {each["id"]: each["where"] for each in run.subscriptions}
    frames = (
        f"<p class='lead'>{len(shown)} of the frames that matched, with what the detector found on "
        f"them. Police cars with their lights on have a broken outline.</p>"
        f"{pictures.legend()}{pictures.drawn(shown, wheres)}"
        if shown
        else "<p>No frame matched.</p>"
    )
    bodies = {
        "map": f"<figure>{city.drawn(run, ids)}"
        f"<figcaption>{_map_caption(run)}</figcaption></figure>{city.flights(run, ids)}",
        "paper": tables.paper(run),
        "frames": frames,
        "timeline": f"<figure>{timeline.drawn(run, ids)}<figcaption>One mark a frame and "
        f"subscription above, one dot a frame and team below (larger for more of its "
        f"subscriptions). The columns are calls: <span class='swatch made'></span> made, "
        f"<span class='swatch spared'></span> spared. Numbers at the right count matches."
        f"</figcaption></figure>",
        "account": tables.account(run),
        "planners": tables.planners(run),
        "why": why.drawn(explained),
        "learned": tables.learned(run),
        "made": _made(run),
    }
    sections = "".join(
        f'<section id="{name}" aria-labelledby="{name}-title"><h2 id="{name}-title">{title}</h2>'
        f"{bodies[name]}</section>"
        for name, title in SECTIONS.items()
    )
    links = "".join(f'<li><a href="#{name}">{title}</a></li>' for name, title in SECTIONS.items())
    numbers = json.dumps(run.as_dict(), separators=(",", ":")).replace("<", "\\u003c")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">'
        "<title>What the drones saw, and what it took</title>"
        f"<style>{_STYLE.read_text(encoding='utf-8')}{pictures.hiding()}</style></head><body>"
        f'<a class="skip" href="#map">Skip to the map</a>{_head(run)}'
        f'<nav aria-label="Sections"><ol>{links}</ol></nav><main>{sections}</main>'
        f'<script type="application/json" id="run">{numbers}</script></body></html>'
    )


def _head(run: DemoRun) -> str:
    account = run.account
    calls = run.comparison.shadow.get("calls", {})
    day = text(run.frames[0].time[:10]) if run.frames else "no frame"
    ended = " It was stopped by hand." if run.interrupted else ""
    figures = [
        (whole(account.events), "frames"),
        (whole(account.subscriptions), "subscriptions"),
        (whole(account.matches), "matches"),
        (whole(run.alarms), "alarms of chases"),
        (whole(account.calls), "operator calls made"),
        (whole(account.spared), "calls spared"),
        (whole(account.needed_at_least), "needed at least"),
    ]
    tiles = "".join(f"<div><dt>{words}</dt><dd>{number}</dd></div>" for number, words in figures)
    naive, ours = calls.get("naive"), run.comparison.own
    saved = (
        f" On the {whole(run.comparison.frames)} frames where it was counted, one subscription "
        f"after the other would have made {whole(naive)} calls; tamis made {whole(ours)}."
        if naive
        else ""
    )
    return (
        f"<header><p class='over'>tamis · UAV surveillance · {day}</p>"
        f"<h1>What the drones saw, and what it took</h1>"
        f"<p class='lede'>{len(run.flights)} drones flew over New York, and "
        f"{len(run.by_subscription)} of {whole(account.subscriptions)} standing subscriptions "
        f"matched some of their frames.{saved}{ended}</p><dl class='figures'>{tiles}</dl></header>"
    )


def _map_caption(run: DemoRun) -> str:
    none = sum(not frame.matches for frame in run.frames)
    paper = sum(any(each.team == "paper" for each in frame.matches) for frame in run.frames)
    return (
        f"{len(run.flights)} flights (lines) and {len(run.frames):,} frames (dots): "
        f"{_dots('paper', paper)} matched one of S1 to S5, "
        f"{_dots('some', len(run.frames) - none - paper)} others (larger for more matches), "
        f"{_dots('none', none)} nothing. Below, each flight by itself. "
        f"Borders are those of the gazetteer, which are coarse at the water."
    )


def _dots(style: str, number: int) -> str:
    return f"<span class='dots'><span class='swatch round {style}'></span> {number:,}</span>"


def _made(run: DemoRun) -> str:
    account = run.account
    stages = ", ".join(f"{name} {spent:.2f} s" for name, spent in account.seconds.items())
    skipped = (
        f" {whole(run.skipped)} frames were left out so that the time allowed spans the flights."
        if run.skipped
        else ""
    )
    learned = run.learned
    known = "Nothing was learned from history"
    if learned:
        known = f"Spark learned from {whole(learned['events'])} frames of another day"
        known += f" in {learned['seconds']:.0f} s" if learned["seconds"] else ", in an earlier run"
        if learned["after_frames"]:
            known += f", while the first {whole(learned['after_frames'])} live ones were matched"
    return (
        f"<p>The frames come from the simulator (seed {run.seed}) and were matched on their "
        f"pixels, positions and facts by the bundled operators; nothing was told what is on "
        f"them.{skipped} {known}. Matching took {run.seconds:.1f} s ({stages}), with the planner "
        f"<code>{text(run.planner)}</code> and the index <code>{text(run.index)}</code>; "
        f"{whole(account.undetermined)} subscriptions stayed undetermined on some frame. The same "
        f"numbers are in this page as JSON (<code>#run</code>) and in <code>run.json</code> beside "
        f"it.</p><pre><code>make demo\nSECONDS=30 make demo</code></pre>"
    )
