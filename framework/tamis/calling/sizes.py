"""Estimates how much memory a kept answer takes: within a third of what is allocated.

Cost: O(values of the answer).
"""

from __future__ import annotations

import sys

from tamis.calling.answers import Answer

Key = tuple[object, ...]

_ANSWER_BYTES = 170
"""Of an answer beside its key and its solutions: its place in a dict, its age and its size."""
_SHELF_BYTES = 530
"""Of a shelf beside its answers: itself, its empty dict, its key, its place among the shelves."""


def shelf_bytes(digest: bytes) -> int:
    """Returns the bytes of a shelf without its answers."""
    return _SHELF_BYTES + len(digest)


def answer_bytes(key: Key, answer: Answer) -> int:
    """Returns the bytes of an answer on its shelf."""
    return _ANSWER_BYTES + _key_bytes(key) + _solution_bytes(answer)


def _key_bytes(key: Key) -> int:
    size = sys.getsizeof(key)
    for part in key[1:]:
        if isinstance(part, tuple):
            size += sys.getsizeof(part) + sum(map(sys.getsizeof, part[1:]))
    return size


def _solution_bytes(answer: Answer) -> int:
    if not answer.solutions:
        return 0
    size = sys.getsizeof(answer) + sys.getsizeof(answer.solutions)
    for solution in answer.solutions:
        size += sys.getsizeof(solution) + sum(map(sys.getsizeof, solution))
    return size
