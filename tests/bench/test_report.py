"""Rows are told as tables, a part each, whatever was measured of each."""

from __future__ import annotations

from collections.abc import Iterator

from tamis_bench.report import Row, tables


def test_rows_of_a_part_are_a_table_with_the_keys_of_all_as_columns() -> None:
    rows: list[Row] = [
        {"part": "One", "method": "a", "mean_us": 12.3456, "about": {"hidden": 1}},
        {"part": "One", "method": "b", "mean_us": 12_345.6, "mean_us_over_before": 0.5, "n": 7_000},
        {"part": "Two", "workload": "unseen", "well": True, "gone": None},
    ]
    (one, first), (two, second) = tables(rows)
    assert one + two == rows
    assert [line.split() for line in first.splitlines()] == [
        [],
        ["One"],
        ["method", "mean", "µs", "over", "before", "n"],
        ["a", "12.35"],
        ["b", "12,346", "0.5", "7,000"],
    ]
    assert second == "\nTwo\nwell\n yes"


def test_a_table_is_told_before_the_next_one_is_measured() -> None:
    def measured() -> Iterator[Row]:
        yield {"part": "One", "a": 1}
        yield {"part": "Two", "a": 2}
        raise AssertionError("the third")

    assert next(iter(tables(measured())))[0] == [{"part": "One", "a": 1}]
