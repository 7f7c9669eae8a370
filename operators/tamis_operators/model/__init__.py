"""Operators that ask a model in words: `asks` a question, `describes` what is seen and said.

Listing them imports nothing heavy; the model is any server that speaks the chat-completions JSON.
"""

from __future__ import annotations

import hashlib
import os
from functools import partial
from typing import Any, NamedTuple

from tamis import (
    OperatorError,
    OperatorRecord,
    Parameter,
    Preparation,
    Resource,
    Sample,
    Specification,
    hookimpl,
)
from tamis.kit import STRING
from tamis_operators.model.content import prepared_content
from tamis_operators.model.endpoint import HOW, NAME, URL, Endpoint, Key
from tamis_operators.model.forms import AnswerForm
from tamis_operators.model.question import IN_WORDS, YES_OR_NO, Question, no_model
from tamis_operators.model.usage import Usage, usage

__all__ = ["Usage", "operators", "usage"]

_QUESTION_TOKENS = 24
_NOWHERE = "http://localhost"
_BURNING = "A fire on a boat in the harbor."


def operators(
    url: str | None = None,
    key: str | None = None,
    name: str | None = None,
    *,
    attribute: str = "text",
    timeout: float = 60.0,
    retries: int = 3,
    concurrency: int | None = 4,
    calls_per_second: float | None = None,
    cost_seconds: float = 1.0,
    prompt_tokens: int = 1_000,
    deterministic: bool = True,
    version: str = "",
    **settings: Any,
) -> list[OperatorRecord]:
    """Returns the operators over an event's picture and the text under a name.

    Where no address, key or name is given, those of TAMIS_MODEL_URL, TAMIS_MODEL_KEY and
    TAMIS_MODEL_NAME. `prompt_tokens` are what an event is expected to take; `attempt_seconds`,
    `most_questions`, `schema`, `body`, `most_image_bytes`, `most_letters`, `prompt_price` and
    `answer_price` are those of `Endpoint`."""
    url = url or os.environ.get(URL, "").strip()
    name = os.environ.get(NAME, "").strip() if name is None else name
    endpoint = Endpoint(url or _NOWHERE, name, Key(key), **settings)
    told = f"{attribute} {version} {endpoint.digest}"
    seen = ("image", attribute)
    shared = Preparation(
        "picture and text",
        partial(prepared_content, endpoint, attribute),
        inputs=(),
        optional_inputs=seen,
        cost_seconds=0.002,
    )
    common: dict[str, Any] = {
        "preparation": shared,
        "optional_inputs": seen,
        "version": f"1-{hashlib.sha256(told.encode()).hexdigest()[:12]}",
        "cost_seconds": cost_seconds,
        "marginal_cost_seconds": cost_seconds / 20,
        "timeout": timeout,
        "deterministic": deterministic,
        "resource": Resource("model", concurrency, calls_per_second),
        "retries": retries,
        "lacking": None if url else f"there is no model yet: {HOW}",
    }
    return [
        _record(each, endpoint, attribute, prompt_tokens + _QUESTION_TOKENS, common)
        for each in _OPERATORS
    ]


class _ModelOperator(NamedTuple):
    name: str
    form: AnswerForm
    description: str
    outputs: tuple[str, ...]
    sample: str


_OPERATORS = (
    _ModelOperator(
        "asks",
        YES_OR_NO,
        "whether a model says yes to a question about the picture and the text",
        (),
        'asks("is there a fire?")',
    ),
    _ModelOperator(
        "describes",
        IN_WORDS,
        "what a model answers to a question about the picture and the text",
        ("text",),
        'describes("what burns?", ?text)',
    ),
)


def _record(
    asked: _ModelOperator, endpoint: Endpoint, attribute: str, tokens: int, common: dict[str, Any]
) -> OperatorRecord:
    specification = Specification(
        name=asked.name,
        description=asked.description,
        parameters=tuple(
            Parameter(each, frozenset({STRING})) for each in ("question", *asked.outputs)
        ),
        outputs=asked.outputs,
        inputs=(),
        cost=endpoint.cost(tokens, asked.form.expected_tokens),
        marginal_cost=endpoint.cost(_QUESTION_TOKENS, asked.form.expected_tokens),
        isolation="thread",
        **common,
    )
    tried = Sample(asked.sample, {attribute: _BURNING})
    made = partial(Question, specification, endpoint, asked.form, tried)
    return OperatorRecord(specification, no_model if specification.lacking else made)


@hookimpl
def tamis_operators() -> list[OperatorRecord]:
    """Returns the operators as the environment sets them up."""
    try:
        return operators()
    except OperatorError as problem:
        return [each.refused(str(problem)) for each in operators(_NOWHERE, "", "")]
