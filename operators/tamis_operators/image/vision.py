"""Imports OpenCV when it is first needed, with a say on its threads.

OpenCV would start as many threads as there are processors in every process that calls it. Here
calls run beside one another already (`Matcher(workers=…)`, worker processes, Spark tasks), and a
pool of threads does not survive a fork, so OpenCV works in the calling thread: TAMIS_IMAGE_THREADS
says otherwise, and a program that has chosen itself (`cv2.setNumThreads`) is left alone.
"""

from __future__ import annotations

import functools
import os
from types import ModuleType


@functools.cache
def opencv() -> ModuleType:
    """Returns the module cv2; `ImportError` where the extra is not installed."""
    import cv2

    if cv2.getNumThreads() == cv2.getNumberOfCPUs():
        cv2.setNumThreads(threads())
    return cv2


def threads() -> int:
    """Returns the number of threads; 0 is OpenCV's word for the calling thread and no other."""
    given = os.environ.get("TAMIS_IMAGE_THREADS", "").strip()
    if not given:
        return 0
    if not given.isdecimal():
        raise ValueError(f"TAMIS_IMAGE_THREADS is a whole number, not {given!r}")
    return int(given) if int(given) > 1 else 0
