"""The tables of the report: the account by operator, planners compared, what history taught."""

from __future__ import annotations

from typing import Any

from examples.uav.live.record import DemoRun
from examples.uav.report.markup import bar, kind_of, ratio, seconds, table, text, whole

_NUMBER, _WORDS = "n", "w"
_METHODS = {
    "naive": "subscription by subscription, as written",
    "sequential": "the paper’s Algorithm 1",
    "suborder": "the paper’s linked chains (Sub-Order)",
    "savings": "the default planner of tamis",
}


def account(run: DemoRun) -> str:
    """What each operator was asked, and what that took."""
    operators = sorted(run.account.operators.items(), key=lambda item: (-item[1].calls, item[0]))
    most = max((each.calls + each.spared for _, each in operators), default=1) or 1
    shared = {
        name: each.evaluations - each.excluded - each.implied - each.memoized
        for name, each in operators
    }
    rows = [
        (
            f'<span class="kind {kind_of(name)}"></span><code>{text(name)}</code>',
            bar(each.calls / most, f"made {kind_of(name)}", each.spared / most),
            whole(each.calls),
            whole(max(0, shared[name] - each.calls)),
            whole(each.implied),
            whole(each.memoized),
            whole(each.spared),
            whole(each.failed),
            seconds(each.seconds),
        )
        for name, each in operators
    ]
    total = run.account
    rows.append(
        (
            "all",
            "",
            whole(total.calls),
            whole(sum(max(0, shared[name] - each.calls) for name, each in operators)),
            whole(total.implied),
            whole(total.memoized),
            whole(total.spared),
            whole(sum(each.failed for _, each in operators)),
            seconds(sum(each.seconds for _, each in operators)),
        )
    )
    caption = (
        "<b>Calls</b> were made; <b>shared</b> are further tests that one call decided; "
        "<b>implied</b> followed from another answer; <b>remembered</b> came from an earlier "
        "frame; <b>spared</b> are calls that candidates hold and nobody had to make. Bars are "
        "calls made (<span class='kind spatial'></span>places, "
        "<span class='kind image'></span>pictures, "
        "<span class='kind reasoner'></span>facts) and, paler, spared. Seconds include the work "
        "that operators share (decoding, detection), counted where it was first needed."
    )
    head = [
        ("operator", _WORDS), ("", "b"), ("calls", _NUMBER), ("shared", _NUMBER),
        ("implied", _NUMBER), ("remembered", _NUMBER), ("spared", _NUMBER), ("failed", _NUMBER),
        ("seconds", _NUMBER),
    ]  # fmt: skip
    return table(head, rows, caption, "Account by operator")


def planners(run: DemoRun) -> str:
    """What other planners would have called on the frames that were compared."""
    comparison = run.comparison
    shadow = comparison.shadow
    if not comparison.frames or not shadow:
        return "<p>No frame was compared.</p>"
    calls: dict[str, int] = shadow["calls"]
    most = max([*calls.values(), comparison.own, shadow["every"] or 0, 1])
    least = shadow["clairvoyant"]
    rows = []
    for name in (each for each in _METHODS if each in calls):
        rows.append(
            (
                f"<b>{text(name)}</b> <span class='quiet'>{_METHODS[name]}</span>",
                bar(calls[name] / most, "ours made" if name == run.planner else "made"),
                whole(calls[name]),
                ratio(calls[name], calls.get("naive", 0)),
                f"{calls[name] / least:.2f}" if least else "–",
            )
        )
    for words, value in (
        ("everything that was asked of them, once", shadow["every"]),
        ("who knows all selectivities needs at least", shadow["non_anticipative"]),
        ("who knows all answers needs at least", least),
    ):
        if value is not None:
            number = whole(value) if value == int(value) else f"{value:,.1f}"
            rows.append(
                (
                    f"<span class='quiet'>{words}</span>",
                    bar(value / most, "bound"),
                    number,
                    ratio(value, calls.get("naive", 0)),
                    f"{value / least:.2f}" if least else "–",
                )
            )
    caption = (
        f"Exact counts on {comparison.frames:,} of {len(run.frames):,} frames: everything was "
        f"evaluated beside the run, and each planner was led through the same answers. The run "
        f"itself, learning as it went, made {comparison.own:,} calls on these frames. Calls "
        f"count alike here, whether they take microseconds or a second; the default planner goes "
        f"by seconds."
    )
    head = [
        ("method", _WORDS), ("", "b"), ("calls", _NUMBER), ("of naive", _NUMBER),
        ("over the bound", _NUMBER),
    ]  # fmt: skip
    return table(head, rows, caption, "Planners compared")


def learned(run: DemoRun) -> str:
    """What the history said of the predicates: the most and the least frequent."""
    rows = run.learned.get("operator_predicates", ())
    if not rows:
        return "<p>Nothing was learned from history in this run.</p>"
    telling = [row for row in rows if 0 < row["satisfied"] < row["tested"]]
    chosen: dict[str, Any] = {}
    for row in sorted(telling, key=lambda row: "?" not in row["predicate"]):
        chosen.setdefault(row["predicate"].split("(")[0], row)
    shown = sorted(chosen.values(), key=lambda row: -row["satisfied"] / row["tested"])
    lines = [
        (
            f"<code>{text(row['predicate'])}</code>",
            bar(
                row["satisfied"] / row["tested"], f"made {kind_of(row['predicate'].split('(')[0])}"
            ),
            whole(row["satisfied"]),
            whole(row["tested"]),
            ratio(row["satisfied"], row["tested"]),
        )
        for row in shown
    ]
    caption = (
        f"One test of each operator, of {len(telling):,} that were true on some of the "
        f"{run.learned['events']:,} frames of an earlier day and false on others. Planners ask "
        f"first what decides most for its cost."
    )
    head = [
        ("test", _WORDS), ("", "b"), ("true", _NUMBER), ("of", _NUMBER), ("share", _NUMBER),
    ]  # fmt: skip
    return table(head, lines, caption, "What was learned")


def paper(run: DemoRun) -> str:
    """The paper's subscriptions, with the frames that each matched."""
    counts = run.by_subscription
    rows = [
        (
            f"<b class='paper'>{text(each['id'])}</b>",
            f"<code>{text(each['where'])}</code>",
            whole(counts[each["id"]]),
        )
        for each in run.subscriptions
        if each.get("team") == "paper"
    ]
    caption = (
        "The five subscriptions of the paper, verbatim (S3 is printed there with a bracket too "
        "many), and how many frames each matched."
    )
    return table([("", _WORDS), ("where", _WORDS), ("frames", _NUMBER)], rows, caption, "S1 to S5")
