"""Why one frame did match, and why another one did not: explanations as trees to be read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from examples.uav.live.looking import FrameExplanations
from examples.uav.live.record import Frame
from examples.uav.report.markup import duration, text

_TRUTH = {True: ("true", "✓"), False: ("false", "✗"), None: ("unknown", "?")}
_HOW = {
    "called": "called",
    "shared": "one call for several",
    "implied": "implied",
    "memo": "remembered",
    "index": "by the index",
    "event": "by the event",
    "guard": "decided with the call",
    "not needed": "not needed",
    "missing input": "input absent",
}


def drawn(explained: FrameExplanations) -> str:
    """Both explanations."""
    parts = []
    if explained.match is not None and explained.match_frame is not None:
        parts.append(_one(explained.match, explained.match_frame, "matches"))
    if explained.miss is not None and explained.miss_frame is not None:
        parts.append(_one(explained.miss, explained.miss_frame, "does not match"))
    return "".join(parts) or "<p>No frame came near one of the paper’s subscriptions.</p>"


def _one(data: Mapping[str, Any], frame: Frame, verb: str) -> str:
    because = f"<p class='because'>{text(data['because'])}</p>" if data["because"] else ""
    bindings = "; ".join(
        ", ".join(f"?{name} = {value}" for name, value in each.items())
        for each in (data.get("bindings") or ())[:3]
        if each
    )
    with_ = f"<p class='bound-to'>with {text(bindings)}</p>" if bindings else ""
    rows = "".join(
        f"<li class='branch'><ul>{_rows(part)}</ul></li>"
        if len(data["alternatives"]) > 1
        else _rows(part)
        for part in data["alternatives"]
    )
    return (
        f"<article class='why'><h3><b class='paper'>{text(data['subscription'])}</b> {verb} "
        f"<span>{text(frame.id)}</span></h3>"
        f"<p><code>{text(data['where'])}</code></p>{because}"
        f"<ul class='tree'>{rows}</ul>"
        f"{with_}</article>"
    )


def _rows(part: Mapping[str, Any]) -> str:
    """The predicates of an alternative; what relates several of them holds or not as it does."""
    rows = []
    for row in part["predicates"]:
        if "joint" in row and "truth" not in row and part["verdict"] in ("true", "false"):
            others = [each.get("truth") for each in part["predicates"] if "joint" not in each]
            if part["verdict"] == "true" or False not in others:
                row = row | {"truth": part["verdict"] == "true", "how": "of all together"}
        elif row.get("how") == "guard" and "truth" not in row:
            told = [each for each in part["predicates"] if row["predicate"] in _guards(each)]
            if any(each.get("truth") is False for each in told):
                row = row | {"truth": False}
        rows.append(_row(row))
    return "".join(rows)


def _guards(row: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(row.get("guards", ()))


def _row(row: Mapping[str, Any]) -> str:
    name, mark = _TRUTH[row["truth"]] if "truth" in row else ("open", "–")
    others = row.get("shared_with") or ()
    notes = [_HOW.get(str(row.get("how")), str(row.get("how", "")))]
    if row.get("seconds") is not None:
        notes.append(duration(row["seconds"]))
    if others:
        notes.append(f"with {len(others)} other subscription{'s' * (len(others) > 1)}")
    return (
        f"<li class='{name}'><span class='truth'><span aria-hidden='true'>{mark}</span>"
        f"<span class='said'>{name}</span></span><span class='asked'>"
        f"<code>{text(row['predicate'])}</code>"
        f"<span class='detail'>{text(row.get('detail', ''))}</span></span>"
        f"<span class='how'>{text(', '.join(note for note in notes if note))}</span></li>"
    )
