"""Asks a model questions in words: `asks(question)` and `describes(question, ?text)`.

All questions about an event that are asked together are one request (up to `most_questions`).
Cost: a request; one question more costs the tokens of itself and of its answer.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

from tamis import ArgumentError, Operator, OperatorError, Sample, Specification, Transient, Variable
from tamis_operators.model.endpoint import HOW, Endpoint
from tamis_operators.model.forms import AnswerForm, UnansweredError, answers, request
from tamis_operators.model.usage import usage

_LONGEST_QUESTION, _LONGEST_ANSWER = 2_000, 1_000
_WORDS = {"yes": True, "no": False}


def _truth(answer: object) -> bool:
    if isinstance(answer, str):
        if answer in _WORDS:
            return _WORDS[answer]
        if answer == "unclear":
            raise UnansweredError("the model says that picture and text do not tell")
    raise UnansweredError(f"the model's answer is neither yes nor no: {answer!r:.60}")


def _texts(answer: object) -> list[str]:
    if answer is None:
        return []
    if not isinstance(answer, str):
        raise UnansweredError(f"the model's answer is not text: {answer!r:.60}")
    text = " ".join(answer.encode("utf-8", "replace").decode().split())  # half of a letter is none
    if len(text) > _LONGEST_ANSWER:
        raise UnansweredError(f"the model's answer has {len(text):,} letters: too many")
    return [text] if text else []


YES_OR_NO = AnswerForm(
    '"yes", "no", or "unclear" where picture and text do not tell.',
    {"type": "string", "enum": ["yes", "no", "unclear"]},
    _truth,
    8,
    16,
)
IN_WORDS = AnswerForm(
    "a text in as few words as answer it, or null where there is nothing of the kind.",
    {"type": ["string", "null"]},
    _texts,
    40,
    400,
)


class Question(Operator):
    """A question in words, of one form."""

    def __init__(
        self, specification: Specification, endpoint: Endpoint, form: AnswerForm, sample: Sample
    ) -> None:
        self.specification = specification
        self._endpoint = endpoint
        self._form = form
        self._sample = sample

    def check(self, question: object, *outputs: object) -> Sequence[object]:
        """Returns the question, its white space as single ones."""
        if isinstance(question, Variable):
            raise ArgumentError("a question is a text, not a variable")
        text = " ".join(str(question).split())
        if not text or not text.isprintable():
            raise ArgumentError("a question has letters, and those that can be seen alone")
        if len(text) > _LONGEST_QUESTION:
            raise ArgumentError(
                f"the question has {len(text):,} letters: {_LONGEST_QUESTION:,} are allowed"
            )
        return (text, *outputs)

    def solve_many(self, event: Any, lists: Sequence[Sequence[Any]]) -> list[Any]:
        """Returns the answers to several, a request for as many as may stand in one."""
        questions = list(dict.fromkeys(arguments[0] for arguments in lists))
        most = self._endpoint.most_questions
        found: dict[str, Any] = {}
        for start in range(0, len(questions), most):
            if start:
                self._keep_pace()
            part = questions[start : start + most]
            found.update(zip(part, self._asked(event.prepared, part), strict=True))
        return [found[arguments[0]] for arguments in lists]

    def samples(self) -> Iterable[Sample]:
        """Returns one question about a text."""
        return (self._sample,)

    def spent(self) -> dict[str, float]:
        """Returns the requests, tokens and money that went to its model so far."""
        endpoint = self._endpoint
        used = [
            each
            for each in usage(self.specification.name)
            if (each.url, each.name) == (endpoint.shown, endpoint.name)
        ]
        return {
            name: getattr(each, name)
            for each in used
            for name in ("requests", "prompt_tokens", "answer_tokens", "cost")
        }

    def _asked(self, content: Sequence[Any], questions: Sequence[str]) -> list[Any]:
        from tamis_operators.model.exchange import exchanged  # http and ssl, with the first call

        endpoint, form = self._endpoint, self._form
        try:
            name = self.specification.name
            reply = exchanged(endpoint, name, request(endpoint, form, content, questions))
        except (Transient, ValueError) as problem:
            return [problem] * len(questions)
        found = answers(form, reply, len(questions))
        return [_hidden(endpoint, each) for each in found]

    def _keep_pace(self) -> None:
        """Waits between requests of one call, as `calls_per_second` has it between calls."""
        for resource in self.specification.resources:
            if resource.calls_per_second:
                time.sleep(1 / resource.calls_per_second)


def _hidden(endpoint: Endpoint, answer: Any) -> Any:
    """Returns an answer, or a failure in its place where the key is in it."""
    told = str(answer)
    if endpoint.key.hidden(told) != told:
        return UnansweredError("the model's answer holds the key, and is not told")
    return answer


def no_model() -> Operator:
    """Refuses to make an operator where nothing was set up."""
    raise OperatorError(HOW)
