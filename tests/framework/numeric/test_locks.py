"""Many readers at once, or one writer."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from tamis.numeric.locks import ReaderWriterLock

SOON = 60.0


def started(work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def test_readers_read_together() -> None:
    lock, both = ReaderWriterLock(), threading.Barrier(2, timeout=SOON)

    def read() -> None:
        with lock.reading:
            both.wait()

    threads = [started(read), started(read)]
    for thread in threads:
        thread.join(SOON)
    assert not both.broken


def test_a_writer_is_alone() -> None:
    lock, value = ReaderWriterLock(), [0]
    torn: list[int] = []

    def write() -> None:
        for _ in range(200):
            with lock.writing():
                value[0] += 1
                time.sleep(0)
                value[0] += 1

    def read() -> None:
        for _ in range(400):
            with lock.reading:
                if value[0] % 2:
                    torn.append(value[0])

    threads = [started(work) for work in (write, write, read, read)]
    for thread in threads:
        thread.join(SOON)
        assert not thread.is_alive()
    assert value == [800]
    assert torn == []


def test_a_waiting_writer_goes_before_new_readers() -> None:
    lock = ReaderWriterLock()
    order: list[str] = []
    reading, released, written = (threading.Event() for _ in range(3))

    def first() -> None:
        with lock.reading:
            reading.set()
            assert released.wait(SOON)
            order.append("first")

    def write() -> None:
        with lock.writing():
            order.append("write")
            written.set()

    def late() -> None:
        with lock.reading:
            order.append("late")

    one = started(first)
    assert reading.wait(SOON)
    two = started(write)
    while not lock._is_awaited:
        assert two.is_alive()
        time.sleep(0.001)
    three = started(late)
    time.sleep(0.01)  # for it to come
    released.set()
    for thread in (one, two, three):
        thread.join(SOON)
    assert order == ["first", "write", "late"]
    assert written.is_set()


def test_it_is_free_again_after_an_error() -> None:
    lock = ReaderWriterLock()
    with pytest.raises(ZeroDivisionError), lock.writing():
        raise ZeroDivisionError
    with pytest.raises(ZeroDivisionError), lock.reading:
        raise ZeroDivisionError
    with lock.writing():
        pass
