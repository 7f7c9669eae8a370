"""Runs sentence models as ONNX files: token ids in, a sentence vector or the mean out.

A folder holds `model.onnx` (or `onnx/model.onnx`) and `tokenizer.json`. Each text runs by itself
and in one thread: its vector does not depend on the texts beside it, so that answers are the same
in one process and on Spark, and nothing is lost in a fork.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import tokenizers

from tamis.kit import Floats
from tamis_operators.text.embedding import model_files

_LONGEST = 512
_KNOWN = ("input_ids", "attention_mask", "token_type_ids")
_SENTENCE = "sentence_embedding"
_TOKENS = ("last_hidden_state", "token_embeddings")
_TYPES: dict[str, type[np.signedinteger[Any]]] = {
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
}


class SentenceModel:
    """A model that was read; calling it gives a vector for each text."""

    def __init__(self, folder: Path) -> None:
        files = model_files(folder)
        if len(files) < 2:
            there = "exists" if folder.is_dir() else "is not a folder"
            raise ValueError(
                f"the embedding {folder} {there}: a folder with model.onnx and tokenizer.json "
                "is wanted"
            )
        model, tokenizer = files
        try:
            self._tokenizer = tokenizers.Tokenizer.from_file(str(tokenizer))
        except Exception as problem:
            raise ValueError(f"{tokenizer} cannot be read: {problem}") from None
        if self._tokenizer.truncation is None:
            self._tokenizer.enable_truncation(_most_tokens(folder))
        self._tokenizer.no_padding()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        try:
            self._session = onnxruntime.InferenceSession(
                str(model), options, providers=["CPUExecutionProvider"]
            )
        except Exception as problem:
            raise ValueError(f"{model} cannot be read: {problem}") from None
        self._inputs = {each.name: _type_of(each, model) for each in self._session.get_inputs()}
        self._output = _output_of(self._session.get_outputs(), model)

    def __call__(self, texts: list[str]) -> list[Floats]:
        """Returns a vector for each text."""
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> Floats:
        encoded = self._tokenizer.encode(text)
        if not encoded.ids:
            raise ValueError("the tokenizer finds nothing in the text")
        given = {
            "input_ids": encoded.ids,
            "attention_mask": encoded.attention_mask,
            "token_type_ids": encoded.type_ids,
        }
        inputs = {name: np.array([given[name]], kind) for name, kind in self._inputs.items()}
        found = np.asarray(self._session.run([self._output], inputs)[0], np.float64)
        if found.ndim == 3:
            mask = np.array(encoded.attention_mask, np.float64)
            return np.asarray(mask @ found[0] / max(mask.sum(), 1.0), np.float64)
        return np.asarray(found[0], np.float64)


def _type_of(given: Any, model: Path) -> type[np.signedinteger[Any]]:
    """Returns the type of an input; `ValueError` where no sentence model would want it."""
    if given.name not in _KNOWN or given.type not in _TYPES:
        raise ValueError(
            f"{model} wants the input {given.name} ({given.type}): a sentence model takes "
            f"{', '.join(_KNOWN)} as integers"
        )
    return _TYPES[given.type]


def _output_of(outputs: list[Any], model: Path) -> str:
    """Returns the output to read: a vector for each sentence, or else one for each token."""
    ranks = {each.name: len(each.shape) for each in outputs}
    if ranks.get(_SENTENCE) == 2:
        return _SENTENCE
    tokens = [name for name in _TOKENS if ranks.get(name) == 3]
    tokens += [name for name, rank in ranks.items() if rank == 3]
    tokens += [name for name, rank in ranks.items() if rank == 2]
    if not tokens:
        raise ValueError(f"{model} has no output with a vector for each token or sentence")
    return tokens[0]


def _most_tokens(folder: Path) -> int:
    """Returns how many tokens the model was made for, where its folder says so."""
    for name, key in (
        ("sentence_bert_config.json", "max_seq_length"),
        ("tokenizer_config.json", "model_max_length"),
    ):
        try:
            most = json.loads((folder / name).read_text("utf-8")).get(key)
        except (OSError, ValueError, AttributeError):
            continue
        if isinstance(most, int) and 0 < most <= 1 << 17:
            return most
    return _LONGEST
