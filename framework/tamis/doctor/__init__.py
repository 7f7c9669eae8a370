"""What `tamis doctor` looks at: the installation check by check, then operators on samples."""

from __future__ import annotations

from tamis.doctor.checks import checks
from tamis.doctor.finding import BROKEN, MISSING, OK, Finding
from tamis.doctor.timing import Timed, timed

__all__ = ["BROKEN", "MISSING", "OK", "Finding", "Timed", "checks", "found", "timed"]


def found() -> list[Finding]:
    """What every check finds; one that fails is a finding itself."""
    findings: list[Finding] = []
    for check in checks:
        try:
            findings += check()
        except Exception as failure:
            findings.append(
                Finding(
                    check.__name__,
                    BROKEN,
                    f"the check fails: {type(failure).__name__}: {failure}",
                    "report this as a fault of tamis",
                )
            )
    return findings
