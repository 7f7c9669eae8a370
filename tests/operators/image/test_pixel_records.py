"""Checks the laws of all operators on pixels."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import cv2
import numpy
import pytest

import tamis
import tamis_operators.image
from tamis.operators.shipping import packed, unpacked
from tamis_operators.image.pixel_records import pixel_operators
from tests.operators.image.asking import solutions

README = Path(tamis_operators.image.__file__).with_name("README.md")
PREDICATES = (
    "looksLike(testCard)", "showsTemplate(testCard)", "faceCount(?n)", "qrCode(?text)",
    "brightness(?value)", "dominantColor(?name)",
)  # fmt: skip
ANSWERS_OF_A_FRAME = """
import json, sys
import cv2, numpy
from tests.operators.image.test_pixel_records import PREDICATES, scene
from tests.operators.image.asking import solutions
cv2.setNumThreads(int(sys.argv[1]))
print(json.dumps([solutions(each, scene(3)) for each in PREDICATES]))
"""


def scene(seed: int) -> Any:
    """The test card, a QR code, and noise."""
    from tamis_operators.image.pictures import drawn_card

    random = numpy.random.default_rng(seed)
    frame = random.normal(120, 4, (360, 500, 3))
    frame[100:340, 10:330] = drawn_card()
    small = cv2.QRCodeEncoder.create().encode(f"scene {seed}")
    code = numpy.pad(numpy.kron(small, numpy.ones((5, 5))), 20, constant_values=255)
    frame[20 : 20 + len(code), 335 : 335 + len(code)] = code[..., None]
    return numpy.clip(frame + random.normal(0, 3, frame.shape), 0, 255).astype(numpy.uint8)


def samples() -> list[tamis.Sample]:
    return [sample for record in pixel_operators([]) for sample in record.factory().samples()]


@pytest.mark.parametrize("sample", samples(), ids=lambda sample: sample.predicate)
def test_samples_have_their_answers(sample: tamis.Sample) -> None:
    answer = solutions(sample.predicate, sample.event["image"])
    assert answer == sample.answer


def test_listing_imports_no_heavy_library() -> None:
    code = (
        "import sys; from tamis_operators.image import pixel_operators; pixel_operators();"
        "print([name for name in ('cv2', 'numpy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("shape", [(1, 1), (1, 300), (300, 1), (15, 15, 3), (16, 17), (24, 21, 4)])
@pytest.mark.parametrize("fill", ["plain", "noise"])
def test_frames_of_any_size_have_answers(shape: tuple[int, ...], fill: str) -> None:
    random = numpy.random.default_rng(2)
    image = random.integers(0, 256, shape, dtype=numpy.uint8)
    if fill == "plain":
        image[:] = 255
    assert [solutions(each, image) for each in PREDICATES[:4]] == [False, False, [0], []]
    (value,), (name,) = (solutions(each, image) for each in PREDICATES[4:])
    assert 0 <= value <= 1
    assert fill == "noise" or (value, name) == (1, "white")


def test_operators_travel() -> None:
    frame = scene(1)
    for records in (pixel_operators([]), unpacked(packed(pixel_operators([])))):
        matcher = tamis.Matcher(operators=records)
        matcher.subscribe("looksLike(testCard), qrCode(?text), brightness(?b), ?b < 0.9", id="s")
        result = matcher.match({"image": frame})
        assert [each["text"] for each in result.matches[0].bindings] == ["scene 1"]


def test_answers_do_not_depend_on_threads_or_on_what_came_before() -> None:
    frames = [scene(seed) for seed in range(2)]
    cv2.setRNGSeed(99)
    expected = [[solutions(each, frame) for each in PREDICATES] for frame in frames]
    assert expected[0][:2] == [True, True]

    def ask(place: int) -> list[Any]:
        cv2.setRNGSeed(place)
        frame = frames[place % 2]
        return [solutions(each, frame) for each in reversed(PREDICATES)][::-1]

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(ask, range(5))) == [expected[place % 2] for place in range(5)]


@pytest.mark.slow
def test_answers_are_those_of_another_process_with_other_threads() -> None:
    code = [sys.executable, "-c", ANSWERS_OF_A_FRAME, "3"]
    done = subprocess.run(code, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [solutions(each, scene(3)) for each in PREDICATES]


def test_a_broken_image_is_unknown_with_a_reason() -> None:
    matcher = tamis.Matcher(operators=pixel_operators([]))
    for each in PREDICATES:
        matcher.subscribe(each)
    result = matcher.match({"image": b"\xff\xd8\xff nothing"})
    assert len(result.undetermined) == len(PREDICATES)
    assert not matcher.match({"speed": 3}).undetermined


def test_work_of_a_frame_is_shared() -> None:
    matcher = tamis.Matcher(operators=pixel_operators([]))
    for each in (*PREDICATES, "not looksLike(testCard)"):
        matcher.subscribe(each)
    assert len(matcher.match({"image": scene(0)}).calls) == len(PREDICATES)


def test_the_readme_names_every_operator() -> None:
    text = README.read_text(encoding="utf-8")
    section = text[text.index("## Operators on pixels") :]
    assert all(f"`{record.specification.signature}`" in section for record in pixel_operators([]))
