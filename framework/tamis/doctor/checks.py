"""Which checks there are: another one is a function of nothing, and a line in `checks`."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tamis.doctor.finding import Finding
from tamis.doctor.installation import extras, plugins, python
from tamis.doctor.java import java
from tamis.doctor.kernels import kernels
from tamis.doctor.machine import vectors

checks: list[Callable[[], Iterable[Finding]]] = [
    python,
    extras,
    plugins,
    kernels,
    vectors,
    java,
]
