"""Makes vectors of texts by the user's function or model, and says what asking it may cost.

The record says everything without running anything; where the function comes from is looked up
when a subscription first needs it. This is the pattern for any model behind an operator: a record
with its price and its limits, one batch an event, vectors kept, failures with a reason.
"""

from __future__ import annotations

import hashlib
import importlib
import math
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tamis import OperatorError
from tamis.kit import did_you_mean
from tamis_operators.text.models import MINILM

VARIABLE = "TAMIS_EMBEDDING"
HOW = (
    f"set {VARIABLE} to {MINILM.name} ({MINILM.how}), to the folder of an ONNX sentence model "
    "(model.onnx and tokenizer.json) or to module:function, or pass text.operators(embedding=…)"
)
MODULES = ("onnxruntime", "tokenizers")
Function = Callable[[list[str]], Any]
_NAMED = re.compile(r"(?P<module>[\w.]+):(?P<function>[\w.]+)")
_PIECES, _PIECE = 64, 4096


@dataclass(frozen=True)
class Embedding:
    """A function of texts to vectors, one row each, and what a call of it may cost."""

    source: Function | str | os.PathLike[str]
    """A function (it may be `async`), `module:function`, the folder of an ONNX model, or the name
    of one that was fetched: `minilm`."""
    cost_seconds: float = 0.02
    """Of a call, until it is measured."""
    timeout: float | None = None
    calls_per_second: float | None = None
    concurrency: int | None = None
    batch: int = 256
    """The most texts of a call."""
    kept: int = 100_000
    """The number of phrases, and of texts, whose vectors are kept."""
    version: str = ""
    """A new one says that the function gives other vectors."""
    name: str = field(init=False, default="")

    def __post_init__(self) -> None:
        source = self.source
        if isinstance(source, os.PathLike):
            source = os.fspath(source)
            object.__setattr__(self, "source", source)
        if not (callable(source) or (isinstance(source, str) and source)):
            raise OperatorError(
                f"an embedding is a function of texts, module:function or a folder, not {source!r}"
            )
        for what in ("batch", "kept", "concurrency"):
            _check(what, getattr(self, what), whole=True)
        for what in ("timeout", "calls_per_second"):
            _check(what, getattr(self, what), whole=False)
        name = source
        if callable(source):
            name = f"{getattr(source, '__module__', '')}:{getattr(source, '__qualname__', source)}"
        object.__setattr__(self, "name", name)

    @property
    def folder(self) -> Path | None:
        """The folder of the model, `None` where a function is given."""
        if callable(self.source):
            return None
        if self.source == MINILM.name:
            return MINILM.folder
        path = Path(os.fspath(self.source)).expanduser()
        return path if path.exists() or not _NAMED.fullmatch(str(self.source)) else None

    @property
    def modules(self) -> tuple[str, ...]:
        """The modules that it needs."""
        return () if self.folder is None else MODULES

    @property
    def digest(self) -> str:
        """A digest that identifies it: of its name and version, or of the files in its folder."""
        found = hashlib.sha256(self.version.encode())
        folder = self.folder
        if folder is None:
            found.update(self.name.encode())
        else:
            for path in model_files(folder):
                _sample(path, found)
        return found.hexdigest()[:12]

    def function(self) -> Function:
        """Returns the function itself; `ValueError` says why there is none."""
        folder = self.folder
        if callable(self.source):
            return self.source
        if self.source == MINILM.name and not MINILM.fetched:
            raise ValueError(f"{MINILM.name} is not fetched: {MINILM.how}")
        if folder is not None:
            from tamis_operators.text.onnx_model import SentenceModel

            return SentenceModel(folder)
        named = _NAMED.fullmatch(self.name)
        assert named is not None  # or it were a folder
        return _imported(named["module"], named["function"])


def model_files(folder: Path) -> tuple[Path, ...]:
    """Returns the files of a model that are there: the model itself and its tokenizer."""
    model = next(
        (path for name in ("model.onnx", "onnx/model.onnx") if (path := folder / name).is_file()),
        None,
    )
    tokenizer = folder / "tokenizer.json"
    return tuple(path for path in (model, tokenizer) if path is not None and path.is_file())


def _imported(module: str, name: str) -> Function:
    try:
        found: Any = importlib.import_module(module)
    except ImportError as problem:
        raise ValueError(f"the embedding {module}:{name} cannot be imported: {problem}") from None
    for step in name.split("."):
        known = dir(found)
        found = getattr(found, step, None)
        if found is None:
            raise ValueError(f"{module} has no {name}{did_you_mean(step, known)}")
    if not callable(found):
        raise ValueError(f"{module}:{name} is not a function of texts")
    function: Function = found
    return function


def _sample(path: Path, into: Any) -> None:
    """Adds a file's size and pieces of it: enough to tell trained weights from others."""
    try:
        size = path.stat().st_size
        into.update(f"{path.name} {size} ".encode())
        with path.open("rb") as file:
            for at in range(_PIECES):
                file.seek(size * at // _PIECES)
                into.update(file.read(_PIECE))
    except OSError as problem:
        into.update(str(problem).encode())


def _check(what: str, value: object, whole: bool) -> None:
    if value is None and what not in ("batch", "kept"):
        return
    kinds = (int,) if whole else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds) or not 0 < value < math.inf:
        number = "whole number" if whole else "number"
        raise OperatorError(f"{what} of an embedding is a {number} above 0, not {value!r}")
