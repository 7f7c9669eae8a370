"""Measures how loud a sound is: `loudness(?db)`, in decibels below the loudest that can be written.

The root of the mean square of all samples: 0 of a square wave at full height, -3 of a full sine,
-120 of silence and of an empty sound. What that is in a room nobody can tell from samples alone.
Cost: microseconds, once the sound is read.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from tamis import Operator, Parameter, Sample, Specification
from tamis.kit import NUMBER
from tamis_operators.audio.sound import SOUND, Sound

SILENCE_DB = -120.0


class Loudness(Operator):
    """`loudness(?db)`: one solution, always."""

    specification = Specification(
        name="loudness",
        description="How loud the sound is, in decibels: 0 is the loudest, -120 silence.",
        parameters=(Parameter("db", frozenset({NUMBER})),),
        outputs=("db",),
        inputs=("sound",),
        cost_seconds=0.0005,
        deterministic=True,
        preparation=SOUND,
        extra="tamis[audio]",
    )

    def solve(self, event: Any, *arguments: Any) -> list[float]:
        """Returns the decibels, to a tenth."""
        sound: Sound = event.prepared
        power = float(np.mean(np.square(sound.samples, dtype=np.float64))) if len(sound[0]) else 0.0
        if power <= 10 ** (SILENCE_DB / 10):
            return [SILENCE_DB]
        return [round(10 * math.log10(power), 1)]

    def samples(self) -> Iterable[Sample]:
        """Yields a tone, and nothing."""
        tone = np.sin(np.arange(16_000) / 8).astype(np.float32)
        yield Sample("loudness(?db)", {"sound": tone}, [-3.0])
        yield Sample("loudness(?db), ?db < -60", {"sound": np.zeros(100, np.int16)}, [-120.0])
