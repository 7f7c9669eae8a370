"""`tamis check`: every error at once, and what is probably not meant."""

from __future__ import annotations

from pathlib import Path

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
