"""Sound: what is one, how loud it is, and, where a recognizer is installed, what is said."""

from __future__ import annotations

import base64
import io
import os
import wave
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tamis
from tamis_operators import audio
from tamis_operators.audio.sound import SPOKEN_RATE, sound_of
from tests.operators.audio.voices import sentences, telephone


def wav(samples: Any, *, rate: int = 16_000, width: int = 2, channels: int = 1) -> bytes:
    """A WAV of samples from -1 to 1."""
    content = io.BytesIO()
    with wave.open(content, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(rate)
        if width == 1:
            data = (np.asarray(samples) * 127 + 128).astype(np.uint8).tobytes()
        else:
            whole = (np.asarray(samples) * ((1 << (8 * width - 1)) - 1)).astype("<i4")
            data = whole.view(np.uint8).reshape(-1, 4)[:, :width].tobytes()
        file.writeframes(data)
    return content.getvalue()


TONE = np.sin(np.arange(16_000) / 8)


def loudness(sound: object, **more: object) -> Any:
    matcher = tamis.Matcher(audio.operators())
    matcher.subscribe("loudness(?db)", id="s")
    result = matcher.match({"sound": sound, **more})
    if result.undetermined:
        return str(result.undetermined[0].reason)
    return result.matches[0].bindings[0]["db"]


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_samples_of_any_width(width: int) -> None:
    assert loudness(wav(TONE, width=width)) == pytest.approx(-3.0, abs=0.15)
    assert loudness(wav(TONE / 10, width=width)) == pytest.approx(-23.0, abs=0.2)


def test_ways_to_give_a_sound(tmp_path: Path) -> None:
    content = wav(TONE)
    (tmp_path / "a.wav").write_bytes(content)
    uri = "data:audio/wav;base64," + base64.b64encode(content).decode()
    both = wav(np.repeat(TONE, 2), channels=2)
    for sound in (str(tmp_path / "a.wav"), uri, content, both, (TONE * 32767).astype(np.int16)):
        assert loudness(sound) == pytest.approx(-3.0, abs=0.1)
    assert loudness(wav([])) == -120
    assert loudness(np.zeros(9, np.float32), sample_rate=8_000) == -120


@pytest.mark.parametrize(
    ("sound", "reason"),
    [
        (b"nonsense", "is not a WAV of plain samples"),
        (wav(TONE)[:20], "is not a WAV of plain samples: it ends early"),
        (wav(TONE)[:44], "the sound ends early: the file is truncated"),
        (wav(TONE)[:-1], "the sound ends early: the file is truncated"),
        ("bark", "a sound is the path of a .wav file"),
        ("http://example.org/a.wav", "nothing is fetched"),
        ("nowhere.wav", "cannot be read"),
        (np.zeros((2, 2), np.int16), "an array of sound is one row"),
        (np.array([np.nan], np.float32), "values that are not numbers"),
    ],
)
def test_what_is_no_sound_is_said(sound: object, reason: str) -> None:
    assert reason in loudness(sound)


def test_special_files_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "f.wav")
    assert "is not a plain file" in loudness(str(tmp_path / "f.wav"))
    assert "sample_rate is a whole number" in loudness(np.zeros(9, np.int16), sample_rate=1.5)


def test_a_sound_of_another_rate_lasts_as_long() -> None:
    for rate in (8_000, 44_100, 48_000):
        seconds = 2
        tone = np.sin(np.arange(seconds * rate) * 2 * np.pi * 440 / rate)
        spoken = sound_of(wav(tone, rate=rate)).spoken
        assert len(spoken) == seconds * SPOKEN_RATE
        spectrum = np.abs(np.fft.rfft(spoken))
        assert spectrum.argmax() / seconds == pytest.approx(440, abs=1)


@pytest.mark.parametrize("rate", [8_000, 16_000, 44_100, 384_000])
def test_sounds_of_no_length_and_of_a_moment_are_silent(rate: int) -> None:
    for count in range(4):
        assert len(sound_of(wav([0.0] * count, rate=rate)).spoken) == round(
            count * SPOKEN_RATE / rate
        )


def matched(matcher: tamis.Matcher, sound: object) -> list[str]:
    return [each.subscription for each in matcher.match({"sound": sound}).matches]


def test_what_is_said_is_heard() -> None:
    pytest.importorskip("pocketsphinx", reason="pip install 'tamis[audio]' brings it")
    matcher = tamis.Matcher(audio.operators())
    with pytest.raises(tamis.SubscriptionError, match="6: says: 'zzzq' is not a word of the rec"):
        matcher.subscribe("says(zzzq)")
    matcher.subscribe_many(
        [
            {"id": "clubs", "where": 'says("clubs")'},
            {"id": "queen", "where": 'says("Queen of Clubs")'},
            {"id": "not", "where": "not says(hearts) and speech(?s), ?s > 0.5"},
        ]
    )
    cards = [path for path, _ in sentences("cards")]
    assert matched(matcher, str(cards[1])) == ["clubs", "not", "queen"]
    assert matched(matcher, cards[4].read_bytes()) == ["clubs"]


def test_somebody_who_says_help_is_heard() -> None:
    pytest.importorskip("pocketsphinx", reason="pip install 'tamis[audio]' brings it")
    matcher = tamis.Matcher(audio.operators())
    matcher.subscribe("says(help)", id="help")
    matcher.subscribe('says("for help")', id="for help")
    voice = telephone()
    assert matched(matcher, str(voice / "vm-helpexit.wav")) == ["for help", "help"]
    assert matched(matcher, str(voice / "dictate" / "forhelp.wav")) == ["for help", "help"]
    assert matched(matcher, str(voice / "vm-goodbye.wav")) == []
