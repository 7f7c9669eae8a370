"""The simulator: the same bytes for a seed, events as the contract has them, S1 to S5 in time."""

from __future__ import annotations

import json
import re
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest

cv2 = pytest.importorskip("cv2", reason="needs pip install 'tamis[image]'")

import tamis  # noqa: E402
from examples.uav import simulate  # noqa: E402
from examples.uav.simulate import write  # noqa: E402
from examples.uav.simulation import Simulation, moments  # noqa: E402
from examples.uav.subscribers import made  # noqa: E402
from tamis_bench.uav import TEST_SEEDS, TUNING_SEEDS, answers, asking, scored  # noqa: E402
from tamis_bench.uav_scores import PATTERNS, ROOFS, THRESHOLDS, QuestionScores  # noqa: E402
from tamis_operators.image.labels import FAMILIES  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]


def test_the_same_seed_gives_the_same_bytes_in_any_order() -> None:
    one, other = Simulation(9), Simulation(9)
    first = [one.observation(number) for number in (40, 3, 700)]
    again = [other.observation(number) for number in (700, 40, 3)]
    for mine, its in zip(first, [again[1], again[2], again[0]], strict=True):
        assert mine.event == its.event
        assert mine.truth == its.truth
    assert Simulation(10).observation(3).event["image"] != first[1].event["image"]


def test_a_chase_is_told_once_and_not_every_frame() -> None:
    [deliver] = [each["deliver"] for each in made() if each["id"] == "S1"]
    simulation, matcher = Simulation(1), tamis.Matcher(operators=[])
    matcher.subscribe("chase = true", id="S1", deliver=deliver)
    deliveries = tamis.Deliveries(matcher)
    frames: Counter[str] = Counter()
    alarms: Counter[str] = Counter()
    for number in range(simulation.count(300)):
        seen = simulation.observation(number, render=False)
        event = {name: seen.event[name] for name in ("id", "time", "camera")}
        result = matcher.match({**event, "chase": "S1" in seen.truth.subscriptions})
        frames[seen.truth.camera] += len(result.matches)
        alarms[seen.truth.camera] += len(deliveries.take(result))
    assert sum(frames.values()) > 10
    assert alarms == Counter({camera: 1 for camera, count in frames.items() if count})


def test_it_goes_on_for_ever() -> None:
    seen = Simulation(2).observation(10**7, render=False)
    assert seen.event["id"].endswith("-1666666")
    assert 60 <= seen.camera.altitude <= 300


def test_events_are_as_the_contract_has_them() -> None:
    simulation = Simulation(6)
    before: dict[str, datetime] = {}
    for seen in simulation.observations(0, 8):
        event, camera = seen.event, seen.camera
        time = datetime.fromisoformat(event["time"])
        assert time.utcoffset() is not None
        assert time > before.get(event["camera"], time.min.replace(tzinfo=time.tzinfo))
        before[event["camera"]] = time
        longitude, latitude = event["position"]
        assert -74.3 < longitude < -73.6
        assert 40.4 < latitude < 41.0
        assert 60 <= event["altitude"] <= 300
        assert 0 <= event["heading"] < 360
        assert 0 < event["speed"] + 1 < 60
        frame = cv2.imdecode(np.frombuffer(event["image"], np.uint8), cv2.IMREAD_COLOR)
        assert frame.shape == (camera.height, camera.width, 3)
        assert float(np.abs(frame.astype(int) - seen.frame).mean()) < 8
        json.dumps({**event, "image": "frames/x.jpg"}, allow_nan=False)


def test_truth_follows_from_what_is_on_the_frame() -> None:
    simulation = Simulation(7)
    for seen in simulation.observations(30, 120, render=False):
        truth = seen.truth
        labels = Counter(each.label for each in truth.things if each.visible >= 0.5)
        assert truth.counts["peopleCount"] == labels["person"]
        assert truth.counts["tourBoatCount"] == labels["tourBoat"]
        vehicles = sum(labels[label] for label in FAMILIES["vehicle"])
        assert truth.counts["vehicleCount"] == vehicles
        assert sum(truth.mobs) <= labels["person"]
        assert list(truth.mobs) == sorted(truth.mobs, reverse=True)
        if "S4" in truth.subscriptions:
            assert truth.borough == "Bronx"
            assert truth.congestion
            assert truth.accident
            assert labels["policeCar"] < 2


@pytest.mark.parametrize("seed", [1, 21])
def test_each_of_s1_to_s5_holds_in_five_minutes_and_lies_in_most_frames(seed: int) -> None:
    simulation = Simulation(seed, interval=12)
    count = simulation.count(300)
    held: Counter[str] = Counter()
    for seen in simulation.observations(0, count, render=False):
        held.update(seen.truth.subscriptions)
    assert set(held) == {"S1", "S2", "S3", "S4", "S5"}
    assert max(held.values()) < 0.2 * count


def test_spatial_operators_agree_with_the_truth() -> None:
    spatial = pytest.importorskip("tamis_operators.spatial")
    asked = tamis.Matcher(spatial.operators())
    asked.subscribe("locIn(Bronx)", id="bronx")
    asked.subscribe("locWithin(TimesSquare, 5000m)", id="square")
    asked.subscribe("distanceFrom(StatueOfLiberty, ?x), ?x < 1000m", id="statue")
    for seen in Simulation(8).observations(0, 30, render=False):
        truth = seen.truth
        wanted = {"bronx"} if truth.borough == "Bronx" else set()
        wanted |= {"square"} if truth.times_square_m <= 5000 else set()
        wanted |= {"statue"} if truth.statue_m < 1000 else set()
        assert {each.subscription for each in asked.match(seen.event).matches} == wanted


def test_facts_are_understood_by_the_reasoner() -> None:
    pytest.importorskip("pyoxigraph", reason="needs pip install 'tamis[reasoner]'")
    from tamis_operators import reasoner

    asked = tamis.Matcher(reasoner.operators())
    asked.subscribe("isA(?who, Aircraft)", id="drone")
    asked.subscribe("isA(?what, Incident), holds(?what, near, ?who)", id="reported")
    asked.subscribe("isA(?boat, Boat), holds(?who, near, ?boat)", id="boats")
    found: Counter[str] = Counter()
    for seen in Simulation(1).observations(0, 100, render=False):
        result = asked.match(seen.event)
        assert not result.undetermined
        by_id = {each.subscription: each.bindings for each in result.matches}
        assert by_id["drone"] == [{"who": seen.event["camera"]}]
        found.update(each.subscription for each in result.matches)
    assert found["drone"] == 100
    assert 0 < found["reported"] < 100
    assert 0 < found["boats"] < 100


def test_a_run_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--seed", "4", "--minutes", "0.1", "--drones", "2", "--interval", "2"]
    assert simulate.main([*arguments, "--output", str(tmp_path)]) == 0
    assert "6 events" in capsys.readouterr().out
    events, truths = (
        [json.loads(line) for line in (tmp_path / name).read_text(encoding="utf-8").splitlines()]
        for name in ("events.jsonl", "truth.jsonl")
    )
    assert [each["id"] for each in events] == [each["event"] for each in truths]
    assert all((tmp_path / each["image"]).stat().st_size > 5_000 for each in events)
    assert json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))["format_version"] == 1
    other = tmp_path / "again"
    write(Simulation(4, drones=2, interval=2), 6, other)
    for name in ("events.jsonl", "truth.jsonl", events[3]["image"]):
        assert (other / name).read_bytes() == (tmp_path / name).read_bytes()


def test_scores_of_the_truth_itself_are_perfect_and_of_lies_are_not() -> None:
    scores, lies = QuestionScores(), QuestionScores()
    for seen in Simulation(3).observations(20, 120, render=False):
        truth = seen.truth
        said: dict[str, Any] = {name: truth.counts.get(name, 0) for name in THRESHOLDS}
        said["mobPattern"] = max(truth.mobs, default=0)
        said |= {name: getattr(truth, each) for name, each in PATTERNS.items()}
        said |= dict.fromkeys(truth.subscriptions, True) | {ROOFS: truth.roofs}
        scores.add(said, truth)
        lies.add(dict.fromkeys(said, 1000) | {"S1": None, ROOFS: [99]}, truth)
    assert all(each.precision == each.recall == 1 for each in scores.asked.values())
    assert lies.asked["tourBoatCount"].recall == 1 > lies.asked["tourBoatCount"].precision
    assert scores.asked[ROOFS].right > 10
    assert lies.asked[ROOFS].precision == lies.asked[ROOFS].recall == 0
    assert lies.unknown == lies.frames == 100
    rows = {row["question"]: row for row in scores.rows("truth")}
    assert rows["peopleCount"]["exact"] == rows["S1"]["precision"] == 1


@pytest.mark.filterwarnings("ignore::tamis.SubscriptionWarning")
def test_quality_is_measured_on_seeds_that_were_not_tuned_on() -> None:
    assert not set(TUNING_SEEDS) & set(TEST_SEEDS)
    picks = [flights.seed for flights, _ in moments(60, TEST_SEEDS.start)]
    assert all(seed in TEST_SEEDS for seed in picks)
    assert len(picks) == 60
    scores = scored(2, 2)
    assert scores.frames == 2
    said = answers(asking(), Simulation(2).observation(1))
    assert {"tourBoatCount", "peopleCount"} <= set(said)


def test_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "examples" / "uav" / "README.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(block, {})
    commands = re.findall(r"^\$ (.+)$", text, re.MULTILINE)
    assert any(command.startswith("python -m examples.uav.simulate") for command in commands)
