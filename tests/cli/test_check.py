"""`tamis check`: every error at once, and what is probably not meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .running import Tamis, strict, write_lines


def test_a_good_file(tamis: Tamis) -> None:
    ended = tamis("check", "S.jsonl", "--operators", "ops.py")
    assert ended.status == 0
    assert ended.err == ""
    assert ended.out == (
        "S.jsonl: 2 subscriptions, 2 alternatives, 2 distinct operator predicates, "
        "0 errors, 0 warnings\n"
    )


def test_operators_may_stand_before_the_file(tamis: Tamis, folder: Path) -> None:
    (folder / "more.py").write_text("import tamis\n@tamis.operator\ndef more(event): return True\n")
    assert tamis("check", "--operators", "ops.py", "S.jsonl").status == 0
    assert tamis("check", "--operators", "ops.py", "more.py", "S.jsonl").status == 0
    assert tamis("check", "--operators", "ops", "more", "S.jsonl").status == 0
    assert tamis("check", "--operators", "ops", "--", "S.jsonl").status == 0


def test_every_error_at_once(tamis: Tamis, folder: Path) -> None:
    write_lines(
        folder / "S.jsonl",
        {"id": "s1", "where": "nowhere(1) and nothing(2) or louderThan(3)\n or nobody(4)"},
        "nonsense",
        {"id": "s1", "where": "a = 1"},
        {"id": "s2", "where": "a = "},
        {"id": "s3", "where": "peopleCount(?n), ?m > 5"},
        {"id": "s4", "where": "louderThan(1, 2)"},
        {"id": "s5", "where": "speed > 3"},
    )
    ended = tamis("check", "S.jsonl", "--operators", "ops.py", "--json")
    assert ended.status == 1
    assert ended.err == ""
    report = strict(ended.out)
    assert report["file"] == "S.jsonl"
    assert report["subscriptions"] == 7
    assert report["warnings"] == []
    assert [(each["line"], each["subscription"]) for each in report["errors"]] == [
        (1, "s1"), (1, "s1"), (1, "s1"), (2, None), (3, "s1"), (4, "s2"), (5, "s3"), (6, "s4"),
    ]  # fmt: skip
    assert [each["place"] for each in report["errors"]][:4] == [
        {"line": 1, "column": 1},
        {"line": 1, "column": 16},
        {"line": 2, "column": 5},
        None,
    ]
    assert "taken by line 1" in report["errors"][4]["problem"]
    assert "did you mean ?n" in report["errors"][6]["problem"]

    text = tamis("check", "S.jsonl", "--operators", "ops.py")
    assert text.status == 1
    assert text.err.count(": error: ") == 8
    assert "S.jsonl:1: error: subscription 's1': line 2, column 5: unknown operator nobody" in (
        text.err
    )
    assert "     or nobody(4)\n        ^\n" in text.err
    assert text.out.endswith("8 errors, 0 warnings\n")


def test_an_unknown_operator_names_the_option(tamis: Tamis) -> None:
    ended = tamis("check", "S.jsonl")
    assert ended.status == 1
    assert "from --operators module.or.file.py\n" in ended.err


@pytest.mark.parametrize(
    ("where", "warning"),
    [
        ("a > 3 and a < 1", "never matches: a > 3 and a < 1"),
        ("a > 3 and a < 1 or b = 2", "has an alternative that never holds: a > 3 and a < 1"),
        ("a in (1, 2)", "(1, 2) is an interval, the numbers between 1 and 2; write {1, 2}"),
        ("a NOT  IN(1,2)", "(1, 2) is an interval, except those between 1 and 2; write {1, 2}"),
        ("B∈(1, 2)", "(1, 2) is an interval"),
        ("peopleCount(?n), ?n in (1, 2)", "(1, 2) is an interval"),
        ("speed > fast", "the bare name fast is an attribute, and it occurs nowhere else"),
        ("{peopleCount(?p), ?p>250)}", "this ')' has no '(' and is left out"),
    ],
)
def test_what_is_probably_not_meant(tamis: Tamis, folder: Path, where: str, warning: str) -> None:
    write_lines(
        folder / "S.jsonl", {"id": "s1", "where": where}, {"id": "s2", "where": "speed > 3"}
    )
    ended = tamis("check", "S.jsonl", "--operators", "ops.py")
    assert ended.status == 0
    assert ended.err.startswith("S.jsonl:1: warning: subscription 's1': ")
    assert warning in ended.err
    assert ended.out.endswith("0 errors, 1 warning\n")


@pytest.mark.parametrize(
    "where",
    [
        "a in (1, 2]",
        "a in [1, 2)",
        'a = "in (1, 2)"',
        "`in` = 3 and (b = 1 or c = 2)",
        "speed > $fast",
        "speed > limit",
        'speed > "fast"',
        "peopleCount(?in), (?in > 1)",
        "camera = fast",
    ],
)
def test_what_may_well_be_meant(tamis: Tamis, folder: Path, where: str) -> None:
    write_lines(
        folder / "S.jsonl",
        {"id": "s1", "where": where},
        {"id": "s2", "where": "speed > 3 and limit > 5"},
    )
    ended = tamis("check", "S.jsonl", "--operators", "ops.py")
    assert (ended.status, ended.err) == (0, "")


def test_predicates_that_differ_in_the_names_of_variables_are_one(
    tamis: Tamis, folder: Path
) -> None:
    write_lines(
        folder / "S.jsonl",
        {
            "where": "peopleCount(?a), ?a > 1 or peopleCount(?b), ?b < 0".replace(
                " or", ") or ("
            ).join("()")
        },
        {"where": "peopleCount(5) and not louderThan(3.0)"},
        {"where": "louderThan(3)"},
    )
    ended = tamis("check", "S.jsonl", "--operators", "ops.py")
    assert ended.out == (
        "S.jsonl: 3 subscriptions, 4 alternatives, 3 distinct operator predicates, "
        "0 errors, 0 warnings\n"
    )


def test_a_file_that_is_not_there(tamis: Tamis) -> None:
    ended = tamis("check", "nowhere.jsonl")
    assert ended.status == 1
    assert ended.err == "error: cannot read nowhere.jsonl: No such file or directory\n"


def test_standard_input(tamis: Tamis) -> None:
    ended = tamis("check", "-", stdin=b'{"where": "a <"}')
    assert ended.status == 1
    assert ended.err.startswith("standard input:1: error: subscription 'subscription-1': line 1")


DOUBTS = {
    "peopleCount > 10": (1, "peopleCount is an attribute here, not the operator: write peopleCou"),
    "peopleCount(n), n > 10": (13, "n is a constant at the output count of peopleCount: write ?n"),
    "time.minute = 3": (1, "time.minute does not come from the time; did you mean time.hour?"),
    "a = 1 and time.hour > 25": (11, "time.hour > 25 never holds: time.hour is 0 to 23"),
    "time.hour = '22'": (1, "never holds: time.hour is 0 to 23"),
    "time.weekday = 0": (1, "never holds: time.weekday is 1 to 7"),
    "position.north < -90.5": (1, "position.north is -90 to 90; a position is [lon, lat]"),
    "time > '22:00'": (1, "time is a date and a time, compared as text: write time.hour"),
    "peopleCount('n')": None,
    "peopleCount(?n), ?n > 10": None,
    "time.hour > 22 and time.weekday != 7 or not exists(time.hour)": None,
    "time > '2026-01-01' and time.epoch > 25 and position.west < -100": None,
}


def test_what_can_never_be_meant(tamis: Tamis, folder: Path) -> None:
    entries = [{"id": str(at), "where": where} for at, where in enumerate(DOUBTS)]
    keys = {"Validity": 3, "deliverr": {}, "ID": 3, "team": 1, "ids": 2, "limit": 3}
    write_lines(folder / "S.jsonl", *entries, {"id": "keys", "where": "a = 1", **keys})
    ended = tamis("check", "S.jsonl", "--operators", "ops.py", "--json")
    assert ended.status == 0
    found: dict[int, list[dict[str, Any]]] = {}
    for each in strict(ended.out)["warnings"]:
        found.setdefault(each["line"], []).append(each)
    for line, (where, doubt) in enumerate(DOUBTS.items(), 1):
        given = [each for each in found.get(line, []) if "bare name" not in each["problem"]]
        assert len(given) == (doubt is not None), where
        if doubt is not None:
            assert given[0]["place"] == {"line": 1, "column": doubt[0]}
            assert doubt[1] in given[0]["problem"]
    meant = [each["problem"].split("mean ")[1] for each in found[len(DOUBTS) + 1]]
    assert meant == ["validity?", "deliver?", "id?"]


def test_a_sample_of_events_says_what_none_of_them_has(tamis: Tamis, folder: Path) -> None:
    write_lines(
        folder / "S.jsonl",
        {"id": "s1", "where": "sped > 3 and time.hour < 4"},
        {"id": "s2", "where": "speed > 3 and time.hour < 5 and day = 1 and exists(meta.battery)"},
        {"id": "s3", "where": "louderThan(3)"},
    )
    (folder / "h" / "day=1").mkdir(parents=True)
    event = {"at": "2026-01-01T00:00:00Z", "speed": 3, "position": [40.7, -73.9]}
    event["meta"] = {"batery": 4}
    write_lines(folder / "h" / "day=1" / "e.jsonl", event, {**event, "at": "1.1.26"}, [1])
    check = ("check", "S.jsonl", "--operators", "ops.py", "--events", "h", "--rename", "at=time")
    ended = tamis(*check)
    assert ended.status == 0
    said = [line for line in ended.err.splitlines() if "warning" in line]
    in_utc = "all times of 2 events are in UTC, and so is time.hour: --time-zone sets another"
    assert [each.partition("warning: ")[2].split("column ")[-1] for each in said] == [
        "1 time cannot be read, the first: '1.1.26'",
        "all positions look swapped: south of 60° S, or at no latitude; a position is [lon, lat]",
        "1: none of 2 events has sped; did you mean speed?",
        f"14: {in_utc} (2 predicates read it)",
        "45: none of 2 events has meta.battery; did you mean meta.batery?",
        "1: none of 2 events has loudness",
    ]
    assert said[0].startswith("h: warning: ")
    ended = tamis(*check, "--time-zone", "Europe/Amsterdam")
    assert "all times" not in ended.err
    write_lines(folder / "h" / "day=1" / "e.jsonl", {"at": "2026-01-01T00:00:00+01:00"})
    assert "all times" not in tamis(*check).err


def test_a_sample_of_events_says_what_keys_of_deliveries_none_of_them_has(
    tamis: Tamis, folder: Path
) -> None:
    """Without it one drone would silence all others: an absent attribute is one key."""
    deliver = {"cooldown": "10min", "per": ["dron", "hour", "?n"]}
    where = "peopleCount(?n) and time.hour > 3"
    write_lines(folder / "S.jsonl", {"id": "s1", "where": where, "deliver": deliver})
    write_lines(folder / "E.jsonl", {"drone": "d1", "people": 3, "hour": 4, "time": "noon"})
    ended = tamis("check", "S.jsonl", "--operators", "ops.py", "--events", "E.jsonl")
    assert ended.status == 0
    said = [line.partition("'s1': ")[2] for line in ended.err.splitlines() if "'s1'" in line]
    assert said == [
        "line 1, column 21: none of 1 event has time.hour",
        "this is delivered per dron: none of 1 event has dron; did you mean drone?",
    ]
