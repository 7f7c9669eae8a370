"""Prints what is heard of recordings of people: `python -m tests.operators.audio.figures`."""

from __future__ import annotations

import time
from difflib import SequenceMatcher

from tamis_operators.audio.listening import listener
from tamis_operators.audio.sound import sound_of
from tests.operators.audio.voices import sentences, single_words, telephone


def main() -> None:
    """Prints a line for each kind of recording."""
    for part in ("cards", "librivox"):
        right = said = 0
        for path, words in sentences(part):
            heard = listener().words(sound_of(str(path)))
            same = SequenceMatcher(None, words, heard, autojunk=False).get_matching_blocks()
            right += sum(block.size for block in same)
            said += len(words)
        print(f"{part}: {right} of {said} words are written down right")
    alone = single_words()
    found = sum(word in listener().words(sound_of(str(path))) for path, word in alone.items())
    print(f"telephone: {found} of {len(alone)} single words")
    seconds, began = 0.0, time.process_time()
    helped = []
    prompts = sorted(telephone().rglob("*.wav"))
    for path in prompts:
        sound = sound_of(str(path))
        seconds += len(sound.samples) / sound.rate
        if "help" in listener().words(sound):
            helped.append(path.stem)
    spent = time.process_time() - began
    print(f"telephone: help is heard in {', '.join(helped)}, of {len(prompts)} recordings")
    print(f"{seconds:,.0f} s of sound, {spent / seconds:.2f} s of a processor each")


if __name__ == "__main__":
    main()
