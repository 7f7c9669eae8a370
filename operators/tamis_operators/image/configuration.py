"""Which detector looks at frames: plain data that travels to other processes by value.

TAMIS_DETECTOR (or the text given to `operators`) is one of

- `auto`: `above` where an event says the scale of its frame, else `hog`; the default;
- `hog`: people on photographs; `cascade`: faces and full bodies;
- `above`, or `above:PALETTE.json`: things of a palette, seen from straight above;
- the path of a model: `model.weights` with `model.cfg` and `model.names` (or `coco.names`) beside
  it, or `model.onnx` with `model.names`;
- the path of a JSON file that says more: `{"model": …, "config": …, "names": …, "threshold": …,
  "overlap": …, "size": [width, height], "letterbox": true}`, paths relative to the file.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field, fields
from hashlib import sha256
from pathlib import Path
from typing import Any

from tamis.nearest import did_you_mean
from tamis_operators.image.labels import PERSON, canonical
from tamis_operators.image.palette import Palette

KINDS = ("auto", "hog", "cascade", "above")
_MODELS = (".weights", ".onnx")
_NAMES = ("coco.names", "labels.txt", "classes.txt")
VERSION = "1"
"""Of the code of all detectors and of what is read from what they find."""


class ConfigurationError(ValueError):
    """A detector that cannot be used as configured, with the reason in one line."""


@dataclass(frozen=True)
class DetectorConfiguration:
    """A detector and its settings."""

    kind: str = "auto"
    model: str = ""
    config: str = ""
    names: tuple[str, ...] = ()
    """What the model calls its classes, in its order."""
    threshold: float = 0.35
    overlap: float = 0.45
    size: tuple[int, int] | None = None
    """Width and height of what the model is shown; by default what the model says itself."""
    letterbox: bool | None = None
    """Whether a frame keeps its proportions, with gray bars; by default for ONNX models."""
    stamp: str = ""
    """The sizes and times of the model's files."""
    palette: Palette = field(default_factory=Palette)

    @classmethod
    def of(cls, text: str) -> DetectorConfiguration:
        """The configuration that a text names; `ConfigurationError` where it names none."""
        kind, _, rest = text.strip().partition(":")
        if kind in KINDS and not rest:
            return cls(kind)
        if kind == "above":
            return cls("above", palette=_palette(Path(rest)))
        path = Path(text.strip())
        if path.suffix == ".json":
            return _of_document(path)
        if path.suffix in _MODELS:
            return _of_model(path, {})
        raise ConfigurationError(
            f"unknown detector {text!r}{did_you_mean(text, KINDS)}; it is {', '.join(KINDS)}, "
            f"a model ({', '.join(_MODELS)}) or a .json file"
        )

    @classmethod
    def from_environment(cls) -> DetectorConfiguration:
        """That of TAMIS_DETECTOR."""
        return cls.of(os.environ.get("TAMIS_DETECTOR", "").strip() or "auto")

    @property
    def told(self) -> frozenset[str]:
        """The labels it can tell, on some frame."""
        if self.kind == "hog":
            return frozenset({PERSON})
        if self.kind == "cascade":
            return frozenset({PERSON, "face"})
        if self.kind in ("above", "auto"):
            return self.palette.labels | {PERSON}
        return frozenset(canonical(name) for name in self.names)

    @property
    def looks_down(self) -> bool:
        """Whether it is made for frames that were taken straight down."""
        return self.kind in ("above", "auto")

    @property
    def digest(self) -> str:
        """What tells its answers from those of others."""
        return sha256(json.dumps([VERSION, asdict(self)]).encode()).hexdigest()[:8]

    @property
    def cost_seconds(self) -> float:
        """What a frame costs until it is measured."""
        return 0.3 if self.kind in ("auto", "hog") else 0.15


def _palette(path: Path) -> Palette:
    try:
        return Palette.from_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError, KeyError) as problem:
        raise ConfigurationError(f"{path} is no palette: {problem}") from None


_SETTINGS = tuple(
    each.name for each in fields(DetectorConfiguration) if each.name not in ("kind", "stamp")
)


def _of_document(path: Path) -> DetectorConfiguration:
    """The settings of a JSON file."""
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise ConfigurationError(f"{path} is no detector: {problem}") from None
    if not isinstance(given, dict):
        raise ConfigurationError(f"{path} is no detector: it is an object with a model")
    for name in given:
        if name not in _SETTINGS:
            raise ConfigurationError(
                f"{path}: a detector has no setting {name!r}{did_you_mean(name, _SETTINGS)}"
            )
    if "palette" in given:
        return DetectorConfiguration("above", palette=_palette(path.parent / given["palette"]))
    if "model" not in given:
        raise ConfigurationError(f"{path} names no model")
    return _of_model(path.parent / given.pop("model"), given, path.parent)


def _of_model(
    model: Path, given: dict[str, Any], folder: Path | None = None
) -> DetectorConfiguration:
    """A model, with the files beside it where the settings name none."""
    settings = dict(given)
    names = settings.pop("names", None)
    if isinstance(names, list):
        labels = tuple(str(name) for name in names)
    else:
        places = [model.with_suffix(".names"), *(model.parent / name for name in _NAMES)]
        labels = _read_names(model, [(folder or Path()) / names] if names else places)
    config = settings.pop("config", None)
    files = [model]
    if model.suffix == ".weights":
        files.append((folder or Path()) / config if config else model.with_suffix(".cfg"))
    for file in files:
        if not file.is_file():
            raise ConfigurationError(f"the detector needs {file}, which is not there")
    times = ((file.stat().st_size, file.stat().st_mtime_ns) for file in files)
    if settings.get("size") is not None:
        wide, high = (int(each) for each in settings["size"])
        settings["size"] = (wide, high)
    return DetectorConfiguration(
        "model",
        str(model.resolve()),
        str(files[-1].resolve()) if len(files) > 1 else "",
        labels,
        stamp=str(list(times)),
        **settings,
    )


def _read_names(model: Path, places: list[Path]) -> tuple[str, ...]:
    """The names of the classes, one a line."""
    for place in places:
        if place.is_file():
            lines = place.read_text(encoding="utf-8").splitlines()
            return tuple(line.strip() for line in lines if line.strip())
    wanted = " or ".join(str(place) for place in places)
    raise ConfigurationError(f"{model} needs the names of its classes, one a line, in {wanted}")
