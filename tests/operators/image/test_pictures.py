"""Folders of pictures, and what is wrong with them."""

from __future__ import annotations

import os
from pathlib import Path

import cv2
import pytest

import tamis
from tamis_operators.image.pictures import TEST_CARD, Gallery, digest_of, drawn_card, listed
from tamis_operators.image.pixel_records import pixel_operators

CARD = drawn_card()


def write(path: Path) -> Path:
    path.parent.mkdir(exist_ok=True)
    cv2.imwrite(str(path), CARD)
    return path


def test_stems_of_folders_and_files_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "signs" / "stop.png")
    write(tmp_path / "signs" / "yield.JPG")
    (tmp_path / "signs" / "notes.txt").write_text("no picture")
    single = write(tmp_path / "tower.bmp")
    monkeypatch.setenv("TAMIS_REFERENCES", os.pathsep.join([str(tmp_path / "signs"), str(single)]))
    assert [each.name for each in listed()] == ["stop", "yield", "tower"]
    assert sorted(Gallery(listed()).frames) == ["stop", TEST_CARD, "tower", "yield"]
    monkeypatch.delenv("TAMIS_REFERENCES")
    assert listed() == ()


def test_an_unknown_name_suggests_one(tmp_path: Path) -> None:
    write(tmp_path / "townHall.png")
    matcher = tamis.Matcher(operators=pixel_operators(tmp_path))
    for operator in ("looksLike", "showsTemplate"):
        with pytest.raises(tamis.SubscriptionError, match="did you mean townHall"):
            matcher.subscribe(f"{operator}(townhal)")
    matcher = tamis.Matcher(operators=pixel_operators([]))
    with pytest.raises(tamis.SubscriptionError, match="TAMIS_REFERENCES"):
        matcher.subscribe("looksLike(bridge)")


def test_a_file_that_is_no_picture_is_named(tmp_path: Path) -> None:
    write(tmp_path / "good.png")
    (tmp_path / "bad.png").write_bytes(b"nothing")
    matcher = tamis.Matcher(operators=pixel_operators(tmp_path))
    with pytest.raises(tamis.SubscriptionError, match=r"bad\.png"):
        matcher.subscribe("looksLike(good)")


def test_a_place_that_is_not_there_is_named(tmp_path: Path) -> None:
    matcher = tamis.Matcher(operators=pixel_operators(tmp_path / "gone"))
    with pytest.raises(tamis.SubscriptionError, match="gone"):
        matcher.subscribe("showsTemplate(testCard)")


def test_two_of_a_name_are_an_error_that_names_both(tmp_path: Path) -> None:
    write(tmp_path / "a" / "stop.png")
    write(tmp_path / "b" / "stop.bmp")
    with pytest.raises(tamis.OperatorError, match=r"stop\.png and .*stop\.bmp"):
        Gallery(listed([tmp_path / "a", tmp_path / "b"]))


def test_the_version_is_that_of_the_content(tmp_path: Path) -> None:
    path = write(tmp_path / "stop.png")
    before = listed([tmp_path])
    content = path.read_bytes()
    path.write_bytes(content + b" ")
    assert digest_of(listed([tmp_path])) != digest_of(before)
    with pytest.raises(tamis.OperatorError, match="start again"):
        Gallery(before)
    moved = tmp_path / "elsewhere" / "stop.png"
    moved.parent.mkdir()
    moved.write_bytes(content)
    assert digest_of(listed(moved)) == digest_of(before)
