"""Configures which detector looks at frames: plain data that travels to other processes by value.

TAMIS_DETECTOR (or the text given to `operators`) is one of

- `auto`: what needs no model, which is `hog`; the default;
- `hog`: people on photographs; `cascade`: faces and full bodies;
- the name of a model that `tamis models fetch` got: `ssd-mobilenet-v2`, `yolov8n`, `yunet`, …;
- the path of a model: `model.weights` with `model.cfg` and `model.names` (or `coco.names`) beside
  it, `model.pb` with `model.pbtxt`, or `model.onnx`, with `model.names`;
- the path of a JSON file that says more: `{"model": …, "config": …, "names": …, "threshold": …,
  "overlap": …, "size": [width, height], "letterbox": true, "scale": …, "batch": …}`, paths
  relative to the file, the model one of those names or a path;
- `module:attribute`: a `Detector` of your own, or what makes one.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from tamis import OperatorError
from tamis.kit import did_you_mean
from tamis_operators.image.detection import Detector
from tamis_operators.image.labels import PERSON, canonical
from tamis_operators.image.models import DETECTORS, KnownDetector

VARIABLE = "TAMIS_DETECTOR"
KINDS = ("auto", "hog", "cascade")
_AUTO = "hog"
ONNXRUNTIME = "onnxruntime"
_OWN = re.compile(r"[\w.]+:\w+")
_MODELS = (".weights", ".pb", ".onnx")
_ENDINGS = ", ".join(_MODELS)
_LARGEST, _MOST_TOGETHER = 10_000, 1_024
_CONFIGS = {".weights": ".cfg", ".pb": ".pbtxt"}
_NAMES = ("coco.names", "labels.txt", "classes.txt")
VERSION = "2"
"""Of the code of all detectors and of what is read from what they find."""


class ConfigurationError(OperatorError):
    """A detector that cannot be used as configured, with the reason in one line."""


@dataclass(frozen=True)
class DetectorConfiguration:
    """A detector and its settings."""

    kind: str = _AUTO
    source: str = ""
    """The place of a detector of your own: `module:attribute`."""
    model: str = ""
    config: str = ""
    names: tuple[str, ...] = ()
    """The model's names of its classes, in its order; empty for one that it never finds."""
    threshold: float = 0.35
    overlap: float = 0.45
    size: tuple[int, int] | None = None
    """Width and height of what the model is shown; by default what the model says itself."""
    letterbox: bool | None = None
    """True if a frame keeps its proportions, with gray bars; by default for ONNX models."""
    scale: float = 1 / 255
    """The factor of pixels, 0 to 255, for the model."""
    batch: int = 1
    """The frames that the model is shown at once where many events are in flight."""
    engine: str = ""
    """The engine of an ONNX model: `onnxruntime` where it is installed, else `opencv`."""
    stamp: str = ""
    """The sizes and times of the files of the model, or of the module; or their hashes."""

    @classmethod
    def of(cls, text: str) -> DetectorConfiguration:
        """Returns the configuration that a text names; `ConfigurationError` where it names none."""
        text = text.strip()
        if text in KINDS:
            return cls(_AUTO if text == "auto" else text)
        if text in DETECTORS:
            return _of_known(DETECTORS[text])
        path = Path(text)
        if path.suffix == ".json":
            return _of_document(path)
        if path.suffix in _MODELS:
            return _of_model(path, {})
        if _OWN.fullmatch(text):
            return _of_module(text)
        raise ConfigurationError(
            f"{text!r} is not a detector{did_you_mean(text, [*KINDS, *DETECTORS])}; name "
            f"{', '.join([*KINDS, *DETECTORS])}, the file of a model ({_ENDINGS}), "
            "a .json file, or module:attribute"
        )

    @classmethod
    def from_environment(cls) -> DetectorConfiguration:
        """Reads TAMIS_DETECTOR."""
        try:
            return cls.of(os.environ.get(VARIABLE, "").strip() or "auto")
        except ConfigurationError as problem:
            raise ConfigurationError(f"{VARIABLE}: {problem}") from problem

    @property
    def told(self) -> frozenset[str]:
        """The labels it can tell, on some frame; a detector of your own is made to ask it."""
        if self.kind == "hog":
            return frozenset({PERSON})
        if self.kind == "cascade":
            return frozenset({PERSON, "face"})
        if self.kind == "own":
            return self.own.labels
        return frozenset(canonical(name) for name in self.names if name)

    @property
    def modules(self) -> tuple[str, ...]:
        """The modules that it needs."""
        return ("cv2", "onnxruntime") if self.engine == ONNXRUNTIME else ("cv2",)

    @property
    def extra(self) -> str:
        """The extra by which pip installs them."""
        return "tamis[detector]" if self.engine == ONNXRUNTIME else "tamis[image]"

    @property
    def name(self) -> str:
        """The name in words."""
        return self.source or (Path(self.model).name if self.model else self.kind)

    @property
    def directions(self) -> bool:
        """True if it tells which way things are headed."""
        return self.kind == "own" and self.own.directions

    @property
    def own(self) -> Detector:
        """The detector of your own."""
        from tamis_operators.image.detectors import detector_of

        return detector_of(self)

    @property
    def digest(self) -> str:
        """A digest that tells its answers from those of others."""
        told = asdict(self)
        if self.source in DETECTORS:
            told.update(model="", config="")  # the stamp says what it is, wherever it is kept
        return sha256(json.dumps([VERSION, told]).encode()).hexdigest()[:8]

    @property
    def cost_seconds(self) -> float:
        """The seconds of a frame, until they are measured."""
        return {"hog": 0.3, "yunet": 0.015}.get(self.kind, 0.15)


def _engine(*, onnx: bool = True) -> str:
    """Chooses the engine that runs a model here."""
    if onnx and importlib.util.find_spec(ONNXRUNTIME) is not None:
        return ONNXRUNTIME
    return "opencv"


def _of_known(known: KnownDetector) -> DetectorConfiguration:
    """Returns a detector that was fetched by name; its answers are the same wherever it is kept."""
    record = known.record
    if not record.fetched:
        raise ConfigurationError(f"{record.name} is not fetched: {record.how}")
    engine = ONNXRUNTIME if known.only_onnxruntime else ""
    files = {path.suffix: str(path) for path in (record.path(each.name) for each in record.files)}
    model = next(files[suffix] for suffix in _MODELS if suffix in files)
    if known.kind == "model" and not engine:
        engine = _engine(onnx=".onnx" in files)
    return DetectorConfiguration(
        known.kind,
        record.name,
        model,
        files.get(".pbtxt", ""),
        engine=engine,
        stamp=" ".join(each.sha256[:16] for each in record.files),
        **known.settings,
    )


def _of_module(source: str) -> DetectorConfiguration:
    """Returns a detector of your own, which is imported when it is first needed."""
    module = source.partition(":")[0]
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        spec = None
    if spec is None:
        raise ConfigurationError(
            f"{source!r} is not a detector: there is no module {module} where Python looks "
            "(PYTHONPATH names more folders)"
        )
    file = Path(spec.origin or "")
    stamp = sha256(file.read_bytes()).hexdigest()[:12] if file.is_file() else ""
    return DetectorConfiguration("own", source, stamp=stamp)


def _is_number(value: object, least: float, most: float) -> bool:
    return type(value) in (int, float) and least <= value <= most  # type: ignore[operator]


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


_SETTINGS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "model": (_is_text, "a name or the path of a model"),
    "config": (_is_text, "the path of a file"),
    "names": (
        lambda value: (
            _is_text(value)
            or (type(value) is list and all(isinstance(each, str) for each in value))
        ),
        "the path of a file, or a list of names",
    ),
    "threshold": (lambda value: _is_number(value, 0, 1), "a number from 0 to 1"),
    "overlap": (lambda value: _is_number(value, 0, 1), "a number from 0 to 1"),
    "size": (
        lambda value: (
            type(value) is list
            and len(value) == 2
            and all(type(each) is int and 0 < each <= _LARGEST for each in value)
        ),
        f"[width, height], whole numbers up to {_LARGEST:,}",
    ),
    "letterbox": (lambda value: type(value) is bool, "true or false"),
    "scale": (lambda value: _is_number(value, 1e-9, 1e9), "a number above 0"),
    "batch": (
        lambda value: type(value) is int and 0 < value <= _MOST_TOGETHER,
        f"a whole number from 1 to {_MOST_TOGETHER:,}",
    ),
}
"""The settings of a document, and what each is."""


def _of_document(path: Path) -> DetectorConfiguration:
    """Returns the settings of a JSON file."""
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as problem:
        raise ConfigurationError(f"{path} is not a detector: {problem}") from None
    if not isinstance(given, dict):
        raise ConfigurationError(f"{path} is not a detector: it is an object with a model")
    given = {name: value for name, value in given.items() if value is not None}
    for name in given:
        if name not in _SETTINGS:
            raise ConfigurationError(
                f"{path}: a detector has no setting {name!r}{did_you_mean(name, _SETTINGS)}"
            )
        is_right, what = _SETTINGS[name]
        if not is_right(given[name]):
            raise ConfigurationError(f"{path}: {name} is {what}, not {given[name]!r:.80}")
    if "model" not in given:
        raise ConfigurationError(f"{path} names no model")
    if given["model"] in DETECTORS:
        if said := [name for name in ("names", "config") if name in given]:
            raise ConfigurationError(f"{path}: {given['model']} has its own {said[0]}")
        known = _of_known(DETECTORS[given.pop("model")])
        return replace(known, **_typed(given))
    return _of_model(path.parent / given.pop("model"), given, path.parent)


def _typed(given: dict[str, Any]) -> dict[str, Any]:
    """Returns the settings of a document as a configuration has them."""
    return {
        name: tuple(value) if isinstance(value, list) else value for name, value in given.items()
    }


def _of_model(
    model: Path, given: dict[str, Any], folder: Path | None = None
) -> DetectorConfiguration:
    """Returns a model, with the files beside it where the settings name none."""
    if model.suffix not in _MODELS:
        raise ConfigurationError(f"{model} is not a model: the files of models end in {_ENDINGS}")
    settings = _typed(given)
    names = settings.pop("names", None)
    if isinstance(names, tuple):
        labels = names
    else:
        places = [model.with_suffix(".names"), *(model.parent / name for name in _NAMES)]
        labels = _read_names(model, [(folder or Path()) / names] if names else places)
    config = settings.pop("config", None)
    files = [model]
    if model.suffix in _CONFIGS:
        beside = model.with_suffix(_CONFIGS[model.suffix])
        files.append((folder or Path()) / config if config else beside)
    for file in files:
        if not file.is_file():
            raise ConfigurationError(f"the detector needs {file}, which is not there")
    times = ((file.stat().st_size, file.stat().st_mtime_ns) for file in files)
    return DetectorConfiguration(
        "model",
        model=str(model.resolve()),
        config=str(files[-1].resolve()) if len(files) > 1 else "",
        names=labels,
        engine=_engine(onnx=model.suffix == ".onnx"),
        stamp=str(list(times)),
        **settings,
    )


def _read_names(model: Path, places: list[Path]) -> tuple[str, ...]:
    """Returns the names of the classes, one a line."""
    for place in places:
        if place.is_file():
            try:
                lines = place.read_text(encoding="utf-8").splitlines()
            except (OSError, ValueError) as problem:
                raise ConfigurationError(f"{place} cannot be read: {problem}") from None
            return tuple(line.strip() for line in lines if line.strip())
    wanted = " or ".join(str(place) for place in places)
    raise ConfigurationError(f"{model} needs the names of its classes, one a line, in {wanted}")
