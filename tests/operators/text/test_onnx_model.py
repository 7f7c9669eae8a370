"""Sentence models are read from folders: a tiny one, made here, has vectors one can compute."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tamis
from tamis_operators import text
from tamis_operators.text.embedding import Embedding

onnx = pytest.importorskip("onnx", reason="pip install onnx")
pytest.importorskip("onnxruntime", reason="pip install 'tamis[text]'")
pytest.importorskip("tokenizers", reason="pip install 'tamis[text]'")

WORDS = ["[UNK]", "a", "fire", "on", "boat", "quiet", "street"]
TABLE = np.array(
    [[0, 0, 1], [1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 1, 1], [-1, 0, 0], [0, -1, 0.5]], np.float32
)


def made(
    folder: Path,
    *,
    output: str = "last_hidden_state",
    summed: bool = False,
    inputs: tuple[str, ...] = ("input_ids", "attention_mask"),
    kind: int = 7,
    path: str = "model.onnx",
) -> Path:
    """A model whose token vectors stand in a table."""
    from onnx import TensorProto, helper, numpy_helper
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    nodes = [helper.make_node("Gather", ["table", "input_ids"], ["tokens" if summed else output])]
    shape: list[Any] = ["batch", "length", 3]
    weights = [numpy_helper.from_array(TABLE, "table")]
    if summed:
        weights.append(numpy_helper.from_array(np.array([1], np.int64), "axis"))
        nodes.append(helper.make_node("ReduceSum", ["tokens", "axis"], [output], keepdims=0))
        shape = ["batch", 3]
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, kind, ["batch", "length"]) for name in inputs],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)],
        weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, str(folder / path))
    tokenizer = Tokenizer(
        models.WordLevel({word: at for at, word in enumerate(WORDS)}, unk_token="[UNK]")
    )
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def mean(words: str) -> Any:
    return TABLE[[WORDS.index(word) for word in words.split()]].astype(np.float64).mean(axis=0)


def score(folder: Path, phrase: str, value: str) -> float:
    matcher = tamis.Matcher(text.operators(embedding=folder))
    matcher.subscribe(f'similarTo("{phrase}", ?s)', id="s1")
    result = matcher.match({"text": value})
    assert not result.undetermined, result.undetermined
    found = result.matches[0].bindings[0]["s"]
    assert isinstance(found, (int, float))
    return found


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"kind": 6},
        {"inputs": ("input_ids",), "path": "onnx/model.onnx"},
        {"inputs": ("input_ids", "attention_mask", "token_type_ids"), "output": "other"},
        {"summed": True, "output": "sentence_embedding"},
    ],
)
def test_scores_are_those_of_the_table(tmp_path: Path, settings: dict[str, Any]) -> None:
    folder = made(tmp_path, **settings)
    one, other = mean("a fire on a boat"), mean("quiet street")
    wanted = one @ other / np.linalg.norm(one) / np.linalg.norm(other)
    found = score(folder, "a fire on a boat", "Quiet STREET")
    assert found == pytest.approx(wanted, abs=1e-6)


def test_a_vector_does_not_depend_on_its_company(tmp_path: Path) -> None:
    function = Embedding(made(tmp_path)).function()
    texts = ["a fire", "quiet street on a boat", "boat"]
    for together, each in zip(function(texts), texts, strict=True):
        assert np.array_equal(together, function([each])[0])


def test_texts_are_cut_where_the_model_ends(tmp_path: Path) -> None:
    folder = made(tmp_path)
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 2}))
    assert score(folder, "a fire", "a fire on a quiet street") == 1


def test_a_text_without_tokens_is_a_failure(tmp_path: Path) -> None:
    matcher = tamis.Matcher(text.operators(embedding=made(tmp_path)))
    matcher.subscribe("similarTo(fire, ?s)", id="s1")
    (undetermined,) = matcher.match({"text": "  "}).undetermined
    assert "the tokenizer finds nothing in the text" in undetermined.reason


def test_bad_folders_are_said_at_subscription(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def problem(folder: Path) -> str:
        monkeypatch.setenv("TAMIS_EMBEDDING", str(folder))
        with pytest.raises(tamis.SubscriptionError) as caught:
            tamis.Matcher(text.operators()).subscribe("similarTo(fire, ?s)")
        return caught.value.problem

    assert "exists: a folder with model.onnx and tokenizer.json is wanted" in problem(tmp_path)
    assert "wants the input input_ids (tensor(float))" in problem(
        made(tmp_path / "odd", inputs=("input_ids",), kind=1)
    ) or "cannot be read" in problem(tmp_path / "odd")
    broken = made(tmp_path / "broken")
    (broken / "model.onnx").write_bytes(b"nothing")
    assert "model.onnx cannot be read" in problem(broken)
    broken = made(tmp_path / "words")
    (broken / "tokenizer.json").write_text("{}")
    assert "tokenizer.json cannot be read" in problem(broken)


def test_a_model_is_known_by_what_it_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = Embedding(made(tmp_path / "one")), Embedding(made(tmp_path / "other"))
    assert one.digest == other.digest
    monkeypatch.setitem(globals(), "TABLE", TABLE + 1)
    assert Embedding(made(tmp_path / "other")).digest != one.digest
