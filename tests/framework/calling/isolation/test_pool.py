"""Workers that go while somebody has them leave no socket open."""

from __future__ import annotations

import os
from typing import Any

import pytest

from tamis.calling.isolation.pool import Pool
from tamis.calling.isolation.processes import ForkServer
from tamis.operators import record_of

from .workers import isolated

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that can fork")


def test_a_worker_that_answered_before_its_server_ended_is_closed() -> None:
    @isolated()
    def seen(event: Any) -> bool:
        return True

    fork = ForkServer()
    pool = Pool([record_of(seen)], fork, 10)
    worker = pool.take(1, None, 30.0)
    assert worker is not None
    fork.end()
    assert worker.abandoned
    assert worker.connection.fileno() >= 0  # who waits for it may still read its answer
    pool.release(worker)
    assert worker.connection.fileno() < 0
    again = pool.take(2, None, 30.0)
    assert again is not None
    assert again is not worker
    fork.end()
    pool.release(again)
