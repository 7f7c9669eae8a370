"""Reads the sound of an event as one channel: a WAV's path, bytes or `data:` URI, or an array.

Invariant: nothing is fetched, nothing but plain files is read, and sizes are checked before
anything is decoded; what is no such sound is a `SoundError`, of which the gateway makes *unknown*.
Cost: a reading an event, for all operators on sound (`SOUND`).
"""

from __future__ import annotations

import io
import wave
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tamis import Preparation
from tamis_operators.content import read_content

SPOKEN_RATE = 16_000
"""Samples a second of what is listened to for speech."""
_MOST_BYTES, _MOST_SECONDS = 256 << 20, 3_600
_RATES = range(1_000, 384_001)


class SoundError(ValueError):
    """A sound that cannot be listened to, with the reason in one line."""


class Sound(NamedTuple):
    """Samples from -1 to 1, and how many are a second."""

    samples: NDArray[np.float32]
    rate: int

    @property
    def spoken(self) -> NDArray[np.int16]:
        """The sound as recognizers of speech take it: 16,000 whole numbers a second."""
        count = round(len(self.samples) * SPOKEN_RATE / self.rate)
        samples = self.samples
        if not len(samples):
            return np.zeros(0, np.int16)
        if self.rate > SPOKEN_RATE:  # what is too high for the lower rate is taken away first
            width = round(self.rate / SPOKEN_RATE)
            samples = np.convolve(samples, np.full(width, 1 / width, np.float32), "same")
        places = np.arange(count) * (self.rate / SPOKEN_RATE)
        taken = np.interp(places, np.arange(len(samples)), samples)
        return np.asarray(np.clip(np.round(taken * 32767), -32768, 32767), np.int16)


def sound_of(sound: object, rate: int | None = None) -> Sound:
    """Returns the sound of a path, bytes, a `data:` URI, or an array with its rate."""
    if hasattr(sound, "__array_interface__") and not isinstance(sound, (str, bytes)):
        return _of_array(sound, SPOKEN_RATE if rate is None else rate)
    content = _content(sound)
    try:
        with wave.open(io.BytesIO(content)) as file:
            channels, width, rate = file.getnchannels(), file.getsampwidth(), file.getframerate()
            if rate not in _RATES or file.getnframes() > _MOST_SECONDS * rate:
                raise SoundError(f"a sound has at most {_MOST_SECONDS:,} s, and a rate of speech")
            count = file.getnframes()
            frames = file.readframes(count)
    except (wave.Error, EOFError, RuntimeError) as problem:
        why = str(problem) or "it ends early"
        raise SoundError(f"the sound is not a WAV of plain samples: {why}") from None
    if len(frames) < count * channels * width:
        raise SoundError("the sound ends early: the file is truncated")
    samples = _numbers(frames, width)
    return Sound(samples.reshape(-1, channels).mean(axis=1, dtype=np.float32), rate)


def _numbers(frames: bytes, width: int) -> NDArray[np.float32]:
    if width == 1:
        return (np.frombuffer(frames, np.uint8).astype(np.float32) - np.float32(128)) / np.float32(
            128
        )
    if width == 3:
        three = np.frombuffer(frames, np.uint8).reshape(-1, 3)
        four = np.zeros((len(three), 4), np.uint8)
        four[:, 1:] = three
        frames, width = four.tobytes(), 4
    if width not in (2, 4):
        raise SoundError(f"the samples of the sound have {width} bytes")
    whole: NDArray[Any] = np.frombuffer(frames, f"<i{width}")
    return whole.astype(np.float32) / np.float32(1 << (8 * width - 1))


def _of_array(array: object, rate: int) -> Sound:
    samples = np.asarray(array)
    if isinstance(rate, bool) or not isinstance(rate, int) or rate not in _RATES:
        raise SoundError(f"sample_rate is a whole number of samples a second, not {rate!r:.40}")
    if samples.ndim != 1 or samples.dtype not in (np.int16, np.float32):
        raise SoundError("an array of sound is one row of int16, or of float32 from -1 to 1")
    if len(samples) > _MOST_SECONDS * rate:
        raise SoundError(f"a sound has at most {_MOST_SECONDS:,} s")
    if samples.dtype == np.int16:
        return Sound(samples.astype(np.float32) / np.float32(1 << 15), rate)
    if not np.isfinite(samples).all():
        raise SoundError("the sound holds values that are not numbers")
    return Sound(samples, rate)


def _content(sound: object) -> bytes:
    """Returns the bytes of a path, of bytes or of a `data:` URI."""
    if isinstance(sound, str) and sound[:5].lower() != "data:" and sound[-4:].lower() != ".wav":
        raise SoundError(f"a sound is the path of a .wav file, not {sound!r:.40}")
    return read_content(sound, "sound", _MOST_BYTES, SoundError)


def _prepared(event: Any) -> Sound:
    return sound_of(event["sound"], event.get("sample_rate"))


SOUND = Preparation(
    "sound",
    _prepared,
    inputs=("sound",),
    optional_inputs=("sample_rate",),
    cost_seconds=0.002,
)
"""The sound of the event, for all operators that listen to it."""
