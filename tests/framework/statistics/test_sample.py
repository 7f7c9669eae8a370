"""A sample of observed events: its bits, merged, saved and read again."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tamis import Statistics, StatisticsError
from tamis.statistics.sample import ObservedSample

Observed = dict[str, bool | None]
EVENTS = st.lists(
    st.dictionaries(st.sampled_from(["p(1)", "q(2)", 'r("é")']), st.none() | st.booleans()),
    max_size=20,
)


def back(sample: ObservedSample) -> list[tuple[tuple[str, bool], ...]]:
    """The events of a sample, without what is unknown."""
    return [
        tuple(
            sorted(
                (text, bool(truth))
                for text, truth, is_known in zip(sample.predicates, truths, known, strict=True)
                if is_known
            )
        )
        for truths, known in zip(sample.truths(), sample.knowns(), strict=True)
    ]


def given_as(events: list[Observed]) -> list[tuple[tuple[str, bool], ...]]:
    return [
        tuple(sorted((text, truth) for text, truth in event.items() if truth is not None))
        for event in events
    ]


@given(EVENTS)
def test_events_come_back_as_they_were(events: list[Observed]) -> None:
    sample = ObservedSample.of(events)
    assert len(sample) == len(events)
    assert back(sample) == given_as(events)
    assert set(sample.places) == {text for event in given_as(events) for text, _ in event}


@given(EVENTS, EVENTS)
def test_samples_add_up_in_any_order(one: list[Observed], other: list[Observed]) -> None:
    first, second = ObservedSample.of(one), ObservedSample.of(other)
    assert back(first.merged(second)) == given_as(one + other)
    assert Counter(back(second.merged(first))) == Counter(given_as(one + other))


@given(EVENTS, st.integers(0, 25))
def test_the_latest_are_the_last(events: list[Observed], count: int) -> None:
    assert (
        back(ObservedSample.of(events).latest(count))
        == given_as(events)[max(0, len(events) - count) :]
    )


@settings(max_examples=20)
@given(EVENTS)
def test_a_folder_and_back(
    tmp_path_factory: pytest.TempPathFactory, events: list[Observed]
) -> None:
    folder: Path = tmp_path_factory.mktemp("learned")
    known = Statistics()
    known.add_observed(events)
    known.save(folder)
    again = Statistics.load(folder)
    assert again.sample is not None
    assert back(again.sample) == given_as(events)
    half = again.merged(again).decayed(0.5).sample
    assert half is not None
    assert back(half) == given_as(events)


def test_a_damaged_sample_is_refused(tmp_path: Path) -> None:
    known = Statistics()
    known.add_observed([{"p(1)": True}] * 9)
    known.save(tmp_path)
    (part,) = (tmp_path / "sample").glob("*.parquet")
    table = pyarrow.parquet.read_table(part)
    short = table.set_column(1, "true", pyarrow.array([b"x"], pyarrow.binary()))
    pyarrow.parquet.write_table(short, part)
    with pytest.raises(StatisticsError, match="9 bits"):
        Statistics.load(tmp_path)
    pyarrow.parquet.write_table(table.drop_columns(["known"]), part)
    with pytest.raises(StatisticsError, match="known"):
        Statistics.load(tmp_path)
