"""`tamis match`: one line an event, whatever the lines of its files hold."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from tamis.engine.stages import STAGES

from .running import Tamis, strict, write_lines

MATCH = ("match", "--subscriptions", "S.jsonl", "--operators", "ops.py")


def test_writes_a_line_an_event_in_order(tamis: Tamis, folder: Path) -> None:
    write_lines(
        folder / "E.jsonl",
        {"id": "e2", "loudness": 7, "people": 9, "altitude": 120},
        "",
        {"id": "e1"},
        {"id": 12, "people": 3},
    )
    ended = tamis(*MATCH, "--events", "E.jsonl")
    assert ended.status == 0
    assert ended.err == ""
    assert ended.lines == [
        {
            "event": "e2",
            "matches": [
                {"subscription": "s1", "bindings": [{}]},
                {"subscription": "s2", "bindings": [{"n": 9}], "data": {"owner": "ann"}},
            ],
            "undetermined": [],
        },
        {"event": "e1", "matches": [], "undetermined": []},
        {"event": "12", "matches": [], "undetermined": []},
    ]


def test_goes_on_after_lines_that_are_no_events(tamis: Tamis, folder: Path) -> None:
    (folder / "E.jsonl").write_bytes(
        b'\xef\xbb\xbf{"id": "e1"}\n'
        b"nonsense\n\n"
        b'{"id": "\xff"}\r\n'
        b"[1]\n"
        b'{"id": [1]}\n'
        b'{"specversion": "1.0", "data": 7}\n' + b"[" * 100_000 + b"\n"
        b'{"id": "e2"}'
    )
    ended = tamis(*MATCH, "--events", "E.jsonl", "--rejects", "bad.jsonl", "--report", "R.json")
    assert ended.status == 0
    assert [line["event"] for line in ended.lines] == ["e1", "e2"]
    assert ended.err == (
        "note: 6 lines hold no event, the first of them E.jsonl:2: "
        "not valid JSON: Expecting value at column 1\n"
    )
    rejects = [strict(line) for line in (folder / "bad.jsonl").read_text().splitlines()]
    assert {each["file"] for each in rejects} == {"E.jsonl"}
    assert [(each["line"], each["reason"]) for each in rejects] == [
        (2, "not valid JSON: Expecting value at column 1"),
        (4, "not UTF-8: byte 9 is 0xff"),
        (5, "an event is an object, and this is an array"),
        (6, "the id of an event is a string or a number, not an array"),
        (7, "the data of a CloudEvents envelope is an object, not a number"),
        (8, "nested too deep"),
    ]
    assert rejects[0]["text"] == "nonsense"
    assert rejects[1]["text"] == '{"id": "\\xff"}'
    report = strict((folder / "R.json").read_text())
    assert (report["events"], report["rejected"]) == (2, 6)


def test_what_fits_no_event_type_is_a_reject(tamis: Tamis, folder: Path) -> None:
    types = [{"name": "frame", "attributes": {"altitude": ["number", [0, 500]]}}]
    (folder / "T.json").write_text(json.dumps(types))
    events = ({"id": "low", "altitude": 120, "loudness": 9}, {"id": "high", "altitude": 700})
    (folder / "E.jsonl").write_text("\n".join(map(json.dumps, events)))
    (folder / "S.jsonl").write_text('{"id": "s", "where": "altitude > 600"}')
    ended = tamis(*MATCH, "--events", "E.jsonl", "--types", "T.json", "--rejects", "bad.jsonl")
    assert ended.status == 0
    assert [strict(line)["event"] for line in ended.out.splitlines()] == ["low"]
    [reject] = map(strict, (folder / "bad.jsonl").read_text().splitlines())
    reason = "the event fits no type: it is not of type frame: altitude is 700, not from 0 to 500"
    assert (reject["line"], reject["reason"]) == (2, reason)
    assert "can hold for no event type (frame)" in ended.err
    (folder / "T.json").write_text("[3]")
    ended = tamis(*MATCH, "--events", "E.jsonl", "--types", "T.json")
    assert (ended.status, ended.out) == (1, "")
    assert "T.json: an event type is an object of" in ended.err


def test_tells_of_rejects_that_nobody_keeps(tamis: Tamis) -> None:
    ended = tamis(*MATCH, "--events", "-", stdin=b"{}\nnonsense\n")
    assert ended.status == 0
    assert ended.err == (
        "note: 1 line holds no event (--rejects FILE keeps it): "
        "standard input:2: not valid JSON: Expecting value at column 1\n"
    )


def test_a_reserved_key_that_is_misspelt_is_told(tamis: Tamis, folder: Path) -> None:
    write_lines(folder / "S.jsonl", {"id": "s1", "where": "people > 5", "delivr": {"once": True}})
    ended = tamis(*MATCH, "--events", "-", stdin=b"{}")
    assert ended.status == 0
    assert ended.err == (
        "warning: subscription 's1' has a key delivr, which is kept for each match: "
        "did you mean deliver?\n"
    )


def test_a_file_without_a_subscription_is_told(tamis: Tamis, folder: Path) -> None:
    (folder / "S.jsonl").write_text("\n")
    ended = tamis(*MATCH, "--events", "-", stdin=b'{"id": "e1"}')
    assert ended.status == 0
    assert strict(ended.out)["matches"] == []
    assert ended.err == "note: S.jsonl holds no subscription, so nothing can match\n"


def test_reports_totals_and_the_same_for_each_operator(tamis: Tamis, folder: Path) -> None:
    write_lines(folder / "E.jsonl", {"loudness": 7, "altitude": 1}, {"people": 9, "loudness": 9})
    tamis(*MATCH, "--events", "E.jsonl", "--report", "R.json", "--planner", "naive")
    report = strict((folder / "R.json").read_text())
    assert report["planner"] == "naive"
    assert report["index"] == "pstbloom"
    assert report["format_version"] == 1
    assert report["wall_seconds"] > 0
    assert (report["events"], report["rejected"], report["subscriptions"]) == (2, 0, 2)
    assert (report["calls"], report["matches"], report["undetermined"]) == (2, 2, 0)
    assert report["naive_expected"] is None
    assert set(report["seconds"]) == {*STAGES, "output"}
    assert report["operators"]["louderThan"]["calls"] == 1
    assert report["operators"]["peopleCount"]["calls"] == 1


def test_the_report_explains_nine_tenths_of_the_processor_time(tamis: Tamis, folder: Path) -> None:
    write_lines(folder / "E.jsonl", *({"loudness": at % 9, "altitude": 1} for at in range(2_000)))
    tamis(*MATCH, "--events", "E.jsonl", "--report", "R.json", "--output", "out.jsonl")
    report = strict((folder / "R.json").read_text())
    assert sum(report["seconds"].values()) > 0.9 * report["cpu_seconds"] > 0


def test_keeps_attributes_and_gives_keys_other_names(tamis: Tamis, folder: Path) -> None:
    write_lines(folder / "E.jsonl", {"name": "e1", "at": 3_600, "camera": "c", "loudness": 9})
    named = ("--rename", "name=id, at=time", "--keep", "camera,time.hour, none")
    ended = tamis(*MATCH, "--events", "E.jsonl", *named)
    found = strict(ended.out)
    assert found["event"] == "e1"
    assert list(found) == ["event", "matches", "undetermined", "kept"]
    assert found["kept"] == {"camera": "c", "time.hour": 1}
    for wrong in ("name", "a=", "=b", "a=id,b=id"):
        ended = tamis(*MATCH, "--events", "E.jsonl", "--rename", wrong)
        assert (ended.status, ended.out) == (2, "")
        assert f"--rename is FROM=TO,… with each TO once, not {wrong}" in ended.err


def test_the_report_says_what_rejected_and_what_was_remembered(tamis: Tamis, folder: Path) -> None:
    (folder / "kept.py").write_text(
        "import tamis\n@tamis.operator(inputs=('soft',), deterministic=True)\n"
        "def soft(event): return event['soft']\n"
    )
    write_lines(folder / "S.jsonl", {"id": "s", "where": "soft() and altitude < 5"})
    events = [{"soft": at != 1, "altitude": 1} for at in range(4)]
    write_lines(folder / "E.jsonl", *events)
    ended = tamis(
        *("match", "--subscriptions", "S.jsonl", "--events", "E.jsonl", "--operators", "kept"),
        *("--report", "R.json", "--workers", "2"),
    )
    assert ended.status == 0
    report = strict((folder / "R.json").read_text())
    assert (report["calls"], report["memoized"], report["evaluations"]) == (2, 2, 4)
    assert report["rejected_by"] == {"soft()": 1}
    assert report["summary"].endswith("; called 2, at least 2 were needed")
    assert report["memo"]["soft"]["hits"] == 2
    assert report["workers"] == 2


def test_the_report_of_no_event_counts_the_subscriptions(tamis: Tamis, folder: Path) -> None:
    assert tamis(*MATCH, "--events", "-", "--report", "R.json").status == 0
    assert strict((folder / "R.json").read_text())["subscriptions"] == 2


def test_what_operators_leave_open_is_undetermined(tamis: Tamis, folder: Path) -> None:
    write_lines(folder / "S.jsonl", {"id": "s", "where": "broken(1)"})
    ended = tamis(*MATCH, "--events", "-", stdin=b'{"id": "e"}')
    assert ended.lines == [
        {
            "event": "e",
            "matches": [],
            "undetermined": [
                {
                    "subscription": "s",
                    "reason": "broken(1): raised: RuntimeError: no such luck",
                }
            ],
        }
    ]


def test_lone_surrogates_and_infinite_numbers_stay_json(tamis: Tamis, folder: Path) -> None:
    odd = '{"id": "\\ud800é", "where": "endless(?x)", "note": "Infinity \\"NaN", "many": 1e999}'
    write_lines(folder / "S.jsonl", odd)
    ended = tamis(*MATCH, "--events", "-", stdin=b'{"id": "\\udfff"}')
    assert ended.status == 0
    assert '"\\ud800é"' in ended.out
    (line,) = ended.lines
    assert line["event"] == "\udfff"
    (match,) = line["matches"]
    assert match["subscription"] == "\ud800é"
    assert [each["x"] for each in match["bindings"]] == [math.inf, -math.inf]
    assert match["data"] == {"note": 'Infinity "NaN', "many": math.inf}


def test_relative_images_are_relative_to_the_events_file(tamis: Tamis, folder: Path) -> None:
    (folder / "day").mkdir()
    images = ["a.jpg", "/b.jpg", "data:image/png;base64,xx", "s3://c/d.jpg", ""]
    write_lines(folder / "S.jsonl", {"id": "s", "where": "imagePath(?p)"})
    write_lines(
        folder / "day" / "E.jsonl",
        *({"image": image, "facts": "f.ttl"} for image in images),
        {"specversion": "1.0", "id": "e", "data": {"image": "../a.jpg"}},
    )
    ended = tamis(*MATCH, "--events", "day/E.jsonl")
    assert [line["matches"][0]["bindings"][0]["p"] for line in ended.lines] == [
        "day/a.jpg",
        *images[1:],
        "day/../a.jpg",
    ]
    here = tamis(*MATCH, "--events", "-", stdin=b'{"image": "a.jpg"}')
    assert here.lines[0]["matches"][0]["bindings"] == [{"p": "a.jpg"}]


def test_options_take_several_values_as_a_shell_leaves_them(tamis: Tamis, folder: Path) -> None:
    for name in "abc":
        write_lines(folder / f"{name}.jsonl", {"id": name, "soft": True})
    (folder / "more_ops.py").write_text(
        "import tamis\n@tamis.operator(inputs=('soft',))\ndef soft(event): return event['soft']\n"
    )
    write_lines(folder / "S.jsonl", {"id": "s", "where": "soft() or louderThan(1)"})
    ended = tamis(
        "match", "--events", "a.jsonl", "b.jsonl", "--operators", "ops.py", "more_ops",
        "--subscriptions", "S.jsonl", "--events=c.jsonl",
    )  # fmt: skip
    assert [line["event"] for line in ended.lines] == ["a", "b", "c"]
    assert all(line["matches"] for line in ended.lines)


def test_statistics_are_read(tamis: Tamis, folder: Path) -> None:
    pytest.importorskip("pyarrow")
    from tamis.statistics import Statistics

    Statistics(selectivity={"louderThan(3)": 0.2}).save(folder / "learned")
    ended = tamis(
        *MATCH, "--events", "-", "--statistics", "learned", "--report", "R.json", stdin=b"{}"
    )
    assert ended.status == 0
    assert strict((folder / "R.json").read_text())["naive_expected"] >= 0
    missing = tamis(*MATCH, "--events", "-", "--statistics", "nowhere")
    assert missing.status == 1
    assert missing.err == "error: nowhere holds no statistics: it has no manifest.json\n"


BAD = """\
{"id": "s1", "where": "louderThn(3)"}

{"id": "s2", "where": "altitude <"}
not json
{"id": "s1", "where": "a = 1"}
{"id": 7, "where": "a = 1"}
{"id": "s3", "were": "a = 1"}
["s4"]
{"where": "camera in [a, b]"}
{"id": "fine", "where": "a = 1"}
"""


def test_a_bad_file_of_subscriptions_stops_the_run_with_every_line(
    tamis: Tamis, folder: Path
) -> None:
    (folder / "S.jsonl").write_text(BAD)
    (folder / "out.jsonl").write_text("as it was")
    ended = tamis(*MATCH, "--events", "-", "--output", "out.jsonl", stdin=b"{}\n")
    assert ended.status == 1
    assert ended.out == ""
    starts = [line for line in ended.err.splitlines() if line.startswith("S.jsonl")]
    assert starts == [
        starts[0],
        starts[1],
        "S.jsonl:4: error: not valid JSON: Expecting value at column 1",
        "S.jsonl:5: error: subscription 's1': this id is taken by line 1: choose another",
        'S.jsonl:6: error: the id of a subscription is a non-empty string, not 7: write "7"',
        starts[5],
        "S.jsonl:8: error: a subscription is an object with 'where', not [\"s4\"]",
        starts[7],
    ]
    assert starts[0].startswith("S.jsonl:1: error: subscription 's1': line 1, column 1: unknown op")
    assert starts[0].endswith("did you mean louderThan?")
    assert starts[5].startswith("S.jsonl:7: error: subscription 's3': 'where' is the text of the")
    assert starts[5].endswith("and it is missing: write 'where', not 'were'")
    assert starts[1].startswith("S.jsonl:3: error: subscription 's2': line 1, column 11: ")
    assert starts[7].startswith("S.jsonl:9: error: subscription 'subscription-9': line 1, ")
    assert "    louderThn(3)\n    ^\n" in ended.err
    assert ended.err.endswith("error: 8 of 9 subscriptions cannot be taken; nothing was matched\n")
    assert (folder / "out.jsonl").read_text() == "as it was"
    assert not list(folder.glob("*.partial"))


def test_made_up_ids_name_the_line_and_avoid_those_given(tamis: Tamis, folder: Path) -> None:
    write_lines(folder / "S.jsonl", {"where": "a = 1"}, {"id": "subscription-1", "where": "a = 1"})
    ended = tamis(*MATCH, "--events", "-", stdin=b'{"a": 1}')
    assert [each["subscription"] for each in ended.lines[0]["matches"]] == [
        "subscription-1",
        "subscription-1-made-up",
    ]


def test_warnings_are_sentences(tamis: Tamis, folder: Path) -> None:
    write_lines(
        folder / "S.jsonl",
        *({"id": f"s{at}", "where": f"a > {at} and a < 0"} for at in range(30)),
    )
    ended = tamis(*MATCH, "--events", "-")
    assert ended.status == 0
    lines = ended.err.splitlines()
    assert lines[0] == "warning: subscription 's0' never matches: a > 0 and a < 0"
    assert len(lines) == 21
    assert lines[-1] == "warning: and 10 more"


def test_output_takes_its_place_only_when_it_is_whole(tamis: Tamis, folder: Path) -> None:
    (folder / "out.jsonl").write_text("as it was")
    (folder / "link.jsonl").symlink_to("out.jsonl")
    ended = tamis(*MATCH, "--events", "-", "--output", "link.jsonl", stdin=b'{"id": "e"}')
    assert (ended.status, ended.out) == (0, "")
    assert (folder / "link.jsonl").is_symlink()
    assert strict((folder / "out.jsonl").read_text())["event"] == "e"

    (folder / "E.jsonl.gz").write_bytes(packed_and_cut())
    failed = tamis(*MATCH, "--events", "E.jsonl.gz", "--output", "out.jsonl")
    assert failed.status == 1
    assert "E.jsonl.gz cannot be read after line" in failed.err
    assert "what was written until then is in out.jsonl.partial" in failed.err
    assert strict((folder / "out.jsonl").read_text())["event"] == "e"
    assert (folder / "out.jsonl.partial").exists()


def packed_and_cut() -> bytes:
    import gzip

    lines = "".join(json.dumps({"id": f"e{at}", "x": hash(str(at))}) + "\n" for at in range(5000))
    packed = gzip.compress(lines.encode())
    return packed[: len(packed) // 2]


def test_devices_are_written_to_and_not_replaced(tamis: Tamis) -> None:
    ended = tamis(*MATCH, "--events", "-", "--output", "/dev/null", stdin=b"{}")
    assert (ended.status, ended.out) == (0, "")
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--events", "-", "--planner", "sequentail"), "did you mean sequential?"),
        (("--events", "-", "--index", "btree"), "unknown index 'btree'"),
        (("--events", "-", "--planner", ""), "unknown planner ''"),
        (("--events", "-", "--operators", "nowhere.py"), "there is no file nowhere.py"),
        (("--events", "-", "--operators", "no.such.module"), "cannot be imported"),
        (("--events", "-", "--operators", "twice.py"), "is in both ops.py and twice.py"),
        (("--events", "-", "--wrokers", "3"), "No such option"),
        ((), "Missing option '--events'"),
        (("--events", "S.jsonl", "--output", "./S.jsonl"), "--output would write over a file"),
        (("--events", "-", "--output", "x", "--report", "x"), "write over that of --output"),
        (("--events", "-", "-"), "can be read only once"),
        (("--events", "-", "extra", "--"), "no file, folder or pattern extra"),
    ],
)
def test_wrong_usage(tamis: Tamis, folder: Path, arguments: tuple[str, ...], sentence: str) -> None:
    (folder / "twice.py").write_text((folder / "ops.py").read_text())
    ended = tamis(*MATCH, *arguments)
    assert ended.status == (1 if "pattern" in sentence or "once" in sentence else 2)
    assert ended.out == ""
    assert ended.err.startswith("error: ")
    assert sentence in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--events", "nowhere.jsonl"), "there is no file, folder or pattern nowhere.jsonl"),
        (("--events", "empty"), "the folder empty holds no .jsonl, .jsonl.gz, .parquet file"),
        (("--events", "-", "--subscriptions", "no.jsonl"), "cannot read no.jsonl: No such file"),
        (("--events", "-", "--output", "no/out.jsonl"), "cannot write no/out.jsonl: No such file"),
    ],
)
def test_input_that_cannot_be_used(
    tamis: Tamis, folder: Path, arguments: tuple[str, ...], sentence: str
) -> None:
    (folder / "empty").mkdir()
    ended = tamis(*MATCH, *arguments)
    assert ended.status == 1
    assert ended.err.startswith("error: ")
    assert sentence in ended.err


def test_a_given_operator_takes_the_place_of_an_installed_one(
    tamis: Tamis, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tamis.plugins import loader as plugins
    from tamis.plugins.loader import Plugins, operators_in

    record = next(each for each in operators_in("ops.py") if each.specification.name == "broken")
    found = Plugins(**vars(plugins.installed()))
    found.operators = {"broken": record, "louderThan": record}
    found.sources = {**found.sources, ("operator", "broken"): "acme (acme)"}
    found.sources[("operator", "louderThan")] = "acme (acme)"
    monkeypatch.setattr(plugins, "installed", lambda: found)
    write_lines(folder / "S.jsonl", {"id": "s", "where": "louderThan(3)"})
    (folder / "ops.py").write_text(
        "import tamis\n@tamis.operator\ndef louderThan(event, level): return True\n"
    )
    ended = tamis(*MATCH, "--events", "-", stdin=b"{}")
    assert ended.err == (
        "warning: the operator louderThan of ops.py takes the place of that of acme (acme)\n"
    )
    assert ended.lines[0]["matches"]
