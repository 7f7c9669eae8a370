"""Loads kernels in the background for small problems, once interpreting them has cost as much.

Kernels are loaded, not compiled: where no machine code is kept, the interpreter goes on, with the
same functions on the same numbers, so that calls and answers are the same.
Invariant: a process loads once; events are decided meanwhile.
Cost: a second or two in a thread of its own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from tamis.log import log
from tamis.numeric.kernels import is_kept, tell_loaded
from tamis.planning import Problem

WORTH_LOADING = 50_000
"""Tests of alternatives to be interpreted before kernels are loaded: about as much work as that.

`tamis bench forms` says what a match takes before and after."""


def compile_engine() -> None:
    """Compiles what the engine needs for large problems, or loads it."""
    from tamis.engine import numbering, opening, seen_form

    numbering.compiled_numbering()
    opening.form_for(is_large=True)
    seen_form.compiled_form()


class KernelLoading:
    """Counts what is interpreted, and loads kernels in the background when that pays."""

    def __init__(self) -> None:
        self._interpreted = 0
        self._is_begun = False
        self._thread: threading.Thread | None = None
        self._beginning = threading.Lock()

    def count(self, problem: Problem, compile_planner: Callable[[], object] | None) -> None:
        """Counts a small problem, to be decided with a planner that is compiled so."""
        if self._is_begun:
            return
        self._interpreted += len(problem.edge_test)
        if self._interpreted >= WORTH_LOADING:
            with self._beginning:
                if not self._is_begun:
                    self._is_begun = True
                    parts = [compile_engine, compile_planner]
                    self._begin([each for each in parts if each is not None])

    def _begin(self, parts: list[Callable[[], object]]) -> None:
        thread = threading.Thread(target=_load, args=[parts], name="tamis kernels")
        try:
            thread.start()
        except RuntimeError as failure:  # there is none, at the end of the interpreter never
            log.warning("kernels are not loaded, small problems stay interpreted: %s", failure)
        else:
            self._thread = thread

    def wait(self) -> None:
        """Waits until what is being loaded is there."""
        if self._thread is not None:
            self._thread.join()


LOADING = KernelLoading()
"""That of this process."""


def _load(parts: list[Callable[[], object]]) -> None:
    from tamis.engine.state_compiled import settle_and_follow

    if not is_kept(settle_and_follow):
        return
    try:
        for part in parts:
            if not threading.main_thread().is_alive():  # nobody waits for what nobody will use
                return
            part()
    except Exception:
        log.exception("kernels cannot be loaded: small problems stay interpreted")
        return
    tell_loaded()
