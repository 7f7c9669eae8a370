"""Brings operators on texts: `mentions` words, `similarTo` others by an embedding of the user's."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from typing import Any

from tamis import ModelRecord, OperatorRecord, hookimpl
from tamis_operators.text import mentions, similar_to
from tamis_operators.text.embedding import VARIABLE, Embedding
from tamis_operators.text.models import MINILM

__all__ = ["Embedding", "operators"]


def operators(
    attribute: str = "text",
    embedding: Embedding | Callable[[list[str]], Any] | str | os.PathLike[str] | None = None,
    **limits: Any,
) -> list[OperatorRecord]:
    """Returns the operators over the texts under a name.

    The embedding is a function of texts (`async` or not), `module:function`, the folder of an
    ONNX model, or `minilm`; by default what TAMIS_EMBEDDING says. `cost_seconds`, `timeout`,
    `calls_per_second`, `concurrency`, `batch`, `kept` and `version` are those of `Embedding`."""
    if embedding is None:
        embedding = os.environ.get(VARIABLE) or None
    if embedding is not None and not isinstance(embedding, Embedding):
        embedding = Embedding(embedding, **limits)
    elif limits:
        raise TypeError(f"{', '.join(limits)} belong to an embedding, and say nothing without one")
    version = hashlib.sha256(attribute.encode()).hexdigest()[:8]
    vectors = version if embedding is None else f"{version}-{embedding.digest}"
    return [
        mentions.record(attribute, version),
        similar_to.record(attribute, embedding, vectors),
    ]


@hookimpl
def tamis_operators() -> list[OperatorRecord]:
    """Returns the operators as the environment sets them up."""
    return operators()


@hookimpl
def tamis_models() -> list[ModelRecord]:
    """Returns the models that they can use."""
    return [MINILM]
