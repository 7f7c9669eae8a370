"""What a check finds: a subject, how it stands, and how to mend it."""

from __future__ import annotations

from typing import NamedTuple

OK, MISSING, BROKEN = "ok", "missing", "broken"


class Finding(NamedTuple):
    """How one thing stands: well, not there (and not needed), or broken."""

    subject: str
    status: str
    words: str
    mend: str = ""
