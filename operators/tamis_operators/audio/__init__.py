"""Brings the operators on sound: how loud it is, how much of it is speech, and what is said.

Nothing heavy is imported before a sound is listened to.
"""

from __future__ import annotations

from tamis import OperatorRecord, hookimpl
from tamis_operators.audio.loudness import Loudness
from tamis_operators.audio.says import Says
from tamis_operators.audio.sound import SOUND, Sound, SoundError
from tamis_operators.audio.speech import Speech

__all__ = ["SOUND", "Sound", "SoundError", "operators"]


def operators() -> list[OperatorRecord]:
    """Returns the operators on the sound of an event."""
    return [OperatorRecord(each.specification, each) for each in (Loudness, Speech, Says)]


@hookimpl
def tamis_operators() -> list[OperatorRecord]:
    """Returns the same."""
    return operators()
