"""Reads what comes back from workers: answers, whatever they are, or garbled, and nothing else."""

from __future__ import annotations

import contextlib
import socket
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tamis.calling.answers import Answer, Failure
from tamis.calling.isolation import messages

scalars = st.one_of(
    st.booleans(),
    st.integers(-(10**900), 10**900),
    st.floats(allow_nan=False),
    st.text(st.characters()),
    st.text(st.characters(categories=["Cs"]), max_size=3),
)
failures = st.builds(
    Failure,
    st.sampled_from(["raised", "timed out", "invalid answer"]),
    st.text(max_size=400),
    st.booleans(),
    st.none() | st.floats(0, 1e9),
)


@given(
    st.lists(
        st.one_of(
            st.booleans().map(Answer),
            st.tuples(st.lists(st.tuples(scalars, scalars), max_size=5), st.booleans()).map(
                lambda pair: Answer(False, [*pair[0]], None, pair[1])
            ),
            failures.map(lambda failure: Answer(failure=failure)),
        ),
        min_size=1,
        max_size=5,
    )
)
def test_answers_are_what_was_answered(answers: list[Answer]) -> None:
    letter, content = messages.answers_reply(answers)
    if letter == messages.FAILED:
        assert messages.read_failure(content) == answers[0].failure
    elif letter != messages.ANSWERS:
        assert len(answers) == 1
        assert (letter == messages.TRUE) == answers[0].truth
    else:
        widths = [0 if answer.solutions is None else 2 for answer in answers]
        read = messages.read_answers(content, widths, 100)
        assert [repr(each) for each in read] == [repr(each) for each in answers]


documents = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["failure", "solutions", "cut", "x"]), inner, max_size=3),
    ),
)


@given(documents, st.lists(st.integers(0, 2), min_size=1, max_size=3))
def test_a_reply_is_answers_or_garbled_and_nothing_else(document: Any, widths: list[int]) -> None:
    try:
        answers = messages.read_answers(messages.plain(document), widths, 100)
    except messages.GarbledError:
        return
    for answer, width in zip(answers, widths, strict=True):
        assert all(len(row) == width for row in answer.solutions or ())


@given(st.binary(max_size=60))
def test_bytes_are_answers_or_garbled_and_nothing_else(content: bytes) -> None:
    for read in (
        lambda: messages.read_answers(content, [0], 9),
        lambda: messages.read_failure(content),
    ):
        with contextlib.suppress(messages.GarbledError):
            read()


def test_deep_and_long_replies_are_garbled() -> None:
    for content in (b"[" * 100_000, b"9" * 10_000):
        with pytest.raises(messages.GarbledError):
            messages.read_plain(content)
    here, there = socket.socketpair()
    with here, there:
        there.sendall(messages.HEADER.pack(messages.REPLY_BYTES + 1, messages.ANSWERS))
        replies = messages.Replies(here)
        replies.receive()
        with pytest.raises(messages.GarbledError):
            replies.taken()
