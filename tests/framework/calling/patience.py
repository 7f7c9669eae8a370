"""Threads for tests: nothing is waited for longer than a patient reader would."""

from __future__ import annotations

import threading
from collections.abc import Callable

PATIENCE_SECONDS = 30


def in_thread(target: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=target, daemon=True)
    thread.start()
    return thread


def join(*threads: threading.Thread) -> None:
    for thread in threads:
        thread.join(PATIENCE_SECONDS)
        assert not thread.is_alive()
