"""The bench of the text operators runs, and both of its ways agree."""

from __future__ import annotations

import pytest

from tamis_bench import phrases as bench


def test_it_prints_a_line_for_each_size(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench, "_SIZES", (10, 200))
    monkeypatch.setattr(bench, "_PASSES", 1)
    bench.main(["--seed", "3"])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[2:]] == ["10", "200"]
