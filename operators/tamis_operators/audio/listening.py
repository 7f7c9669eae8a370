"""Listens for speech by pocketsphinx, whose wheel brings a model of English.

A transcript does not depend on what was listened to before: levels are those of the whole sound.
One sound is listened to at a time. Cost: a seventh of the sound's length, of the finding of speech
0.3 ms a second.
"""

from __future__ import annotations

import functools
import threading
from typing import Any

from tamis_operators.audio.sound import SPOKEN_RATE, Sound

_STRICT = 2
"""The strictness about speech, 0 to 3."""


class Listener:
    """The recognizer, loaded once a process."""

    def __init__(self) -> None:
        import pocketsphinx

        self._lock = threading.Lock()
        self._decoder = pocketsphinx.Decoder(cmn="batch", loglevel="FATAL")

    def knows(self, word: str) -> bool:
        """Returns whether its dictionary has the word."""
        with self._lock:
            return self._decoder.lookup_word(word) is not None

    def words(self, sound: Sound) -> tuple[str, ...]:
        """Returns the words that it understands."""
        spoken = sound.spoken.tobytes()
        if not spoken:
            return ()
        with self._lock:
            self._decoder.start_utt()
            self._decoder.process_raw(spoken, full_utt=True)
            self._decoder.end_utt()
            found = self._decoder.hyp()
        return tuple(found.hypstr.split()) if found is not None else ()


@functools.cache
def listener() -> Listener:
    """Returns the recognizer."""
    return Listener()


def speech_seconds(sound: Sound) -> float:
    """Counts the seconds of speech in the sound, by pieces of 30 ms."""
    import pocketsphinx

    vad = pocketsphinx.Vad(_STRICT, SPOKEN_RATE)
    spoken = sound.spoken.tobytes()
    size = vad.frame_bytes
    pieces = range(0, len(spoken) - size + 1, size)
    heard = sum(bool(vad.is_speech(spoken[at : at + size])) for at in pieces)
    return heard * float(vad.frame_length)


def transcript(event: Any) -> tuple[str, ...]:
    """Returns the words of the prepared sound."""
    return listener().words(event.prepared)
