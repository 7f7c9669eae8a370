"""Measures how long somebody speaks in a sound: `speech(?seconds)`, in any language.

By pocketsphinx's finder of voices. Cost: 0.3 ms a second of sound.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tamis import Operator, Parameter, Sample, Specification
from tamis.kit import NUMBER
from tamis_operators.audio.listening import speech_seconds
from tamis_operators.audio.sound import SOUND


class Speech(Operator):
    """`speech(?seconds)`: one solution, always."""

    specification = Specification(
        name="speech",
        description="How many seconds of the sound are speech.",
        parameters=(Parameter("seconds", frozenset({NUMBER})),),
        outputs=("seconds",),
        inputs=("sound",),
        cost_seconds=0.01,
        deterministic=True,
        preparation=SOUND,
        extra="tamis[audio]",
        modules=("pocketsphinx",),
    )

    def solve(self, event: Any, *arguments: Any) -> list[float]:
        """Returns the seconds, to a hundredth."""
        return [round(speech_seconds(event.prepared), 2)]

    def samples(self) -> Iterable[Sample]:
        """Returns silence, and too little to tell."""
        yield Sample("speech(?seconds)", {"sound": np.zeros(16_000, np.int16)}, [0])
        yield Sample("speech(0)", {"sound": np.zeros(3, np.int16)}, True)
