"""Logs what is worth a line under the name `tamis`; nothing is shown unless asked for."""

from __future__ import annotations

import logging

log = logging.getLogger("tamis")
log.addHandler(logging.NullHandler())
