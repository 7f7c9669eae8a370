"""`tamis explain`: why, in words and as data, and what it took."""

from __future__ import annotations

from pathlib import Path

from .running import Tamis, strict, write_lines

EXPLAIN = ("explain", "--subscriptions", "S.jsonl", "--operators", "ops.py")
EVENT = '{"id": "e1", "loudness": 7, "altitude": 500, "people": 9}'


def test_explains_all_subscriptions_in_their_order(tamis: Tamis) -> None:
    ended = tamis(*EXPLAIN, "--event", EVENT)
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.startswith(
        "s1 does not match e1, because altitude < 400 is false (altitude is 500)\n"
    )
    assert "\n\ns2 matches e1\n" in ended.out
    assert "\n\naccount\nsubscriptions    2\nchecked          2\ncandidates       1\n" in ended.out
    assert "operator     calls  evaluations" in ended.out
    assert "peopleCount      1            1" in ended.out
    assert "\x1b" not in ended.out


def test_explains_only_the_named_ones(tamis: Tamis) -> None:
    ended = tamis(*EXPLAIN, "--event", EVENT, "--subscription", "s2")
    assert ended.out.startswith("s2 matches e1\n")
    both = tamis(*EXPLAIN, "--event", EVENT, "--subscription", "s2", "s1")
    assert both.out.startswith("s1 does not match")
    unknown = tamis(*EXPLAIN, "--event", EVENT, "--subscription", "s3")
    assert unknown.status == 2
    assert unknown.err == (
        "error: --subscription: S.jsonl holds no subscription 's3'; did you mean s1?\n"
    )


def test_keys_get_other_names_as_in_files(tamis: Tamis) -> None:
    event = '{"event_id": "e7", "sound": {"level": 7}, "altitude": 500, "people": 9}'
    ended = tamis(*EXPLAIN, "--event", event, "--rename", "event_id=id,sound.level=loudness")
    assert "\n\ns2 matches e7\n" in ended.out
    wrong = tamis(*EXPLAIN, "--event", event, "--rename", "event_id")
    assert wrong.status == 2
    assert "--rename is FROM=TO" in wrong.err


def test_as_data(tamis: Tamis) -> None:
    data = strict(tamis(*EXPLAIN, "--event", EVENT, "--json").out)
    assert data["event"] == "e1"
    assert [each["verdict"] for each in data["explanations"]] == ["not matched", "matched"]
    assert data["account"]["calls"] == 1


def test_the_event_may_be_in_a_file_or_come_from_standard_input(tamis: Tamis, folder: Path) -> None:
    (folder / "day").mkdir()
    (folder / "day" / "event.json").write_text('{\n  "id": "e2",\n  "image": "a.jpg"\n}\n')
    write_lines(folder / "S.jsonl", {"id": "s", "where": "imagePath(?p)"})
    ended = tamis(*EXPLAIN, "--event", "@day/event.json", "--json")
    assert strict(ended.out)["explanations"][0]["bindings"] == [{"p": "day/a.jpg"}]
    assert tamis(*EXPLAIN, "--event", "-", stdin=b"{}").out.startswith("s does not match event-1")


def test_events_that_are_none(tamis: Tamis, folder: Path) -> None:
    for event, sentence in {
        "[]": "an event is an object, and this is an array",
        "{": "--event is not valid JSON: Expecting property name",
        "S.jsonl": "did you mean @S.jsonl?",
        "@nowhere.json": "cannot read nowhere.json: No such file",
        "@S.jsonl": "--event takes one event",
        "[" * 100_000: "--event: nested too deep",
    }.items():
        ended = tamis(*EXPLAIN, "--event", event)
        assert ended.status == 1
        assert ended.err.startswith("error: ")
        assert sentence in ended.err


def test_terminals_are_not_steered(tamis: Tamis, folder: Path) -> None:
    write_lines(folder / "S.jsonl", {"id": "s\x1b[31m", "where": 'a = "\u009b\\u001b"'})
    ended = tamis(*EXPLAIN, "--event", "{}")
    assert ended.status == 0
    assert "s\N{REPLACEMENT CHARACTER}[31m does not match" in ended.out
    assert "\x1b" not in ended.out
    assert "\u009b" not in ended.out
