"""Gives events what their files do not hold: the values of folders, and keys under another name.

Folders like `day=2026-01-15` are attributes of all events below them, typed as Spark types them: a
key is a number where all its values are, else text. What a folder says takes the place of a key of
that name. Cost: a copy of each event, and none where there is nothing to give.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

if TYPE_CHECKING:
    from tamis.files.reading import FileLine

Partition = int | float | str | None
Renamed = tuple[tuple[str, str], ...]
"""Keys, or paths into objects, each with its new name."""

_ABSENT = ("", "__HIVE_DEFAULT_PARTITION__")
_WHOLE = re.compile(r"[+-]?[0-9]{1,38}")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_MOST_BESIDE_FRACTIONS = 1 << 31
"""Spark has no type for fractions and for whole numbers beyond: both are text."""


@dataclass(frozen=True)
class EventDefaults:
    """The new names and folder values for the events of one file."""

    renamed: Renamed = ()
    partitions: tuple[tuple[str, Partition], ...] = ()

    def lines(self, lines: Iterable[FileLine]) -> Iterable[FileLine]:
        """Returns the lines of the file, with what they get."""
        if self == UNNAMED:
            return lines
        return (line._replace(document=self.document(line.document)) for line in lines)

    def document(self, document: Any) -> Any:
        """Returns a document with new names and with the values of its folders."""
        if not isinstance(document, dict) or self == UNNAMED:
            return document
        named = dict(document)
        for name, _ in self.renamed:
            named.pop(name, None)
        for name, new in self.renamed:
            if name in document:
                named[new] = document[name]
            elif (inner := _inside(document, name)) is not None:
                named[new] = inner
        data = named.get("data")
        if "specversion" in named and isinstance(data, dict):  # an envelope
            return {**named, "data": {**data, **dict(self.partitions)}}
        return {**named, **dict(self.partitions)}

    def batch(self, batch: Any) -> Any:
        """Names a batch of Arrow; `None` where its rows have to be named one by one."""
        if self == UNNAMED:
            return batch
        import pyarrow

        given = dict(zip(batch.schema.names, batch.columns, strict=True))
        if "specversion" in given or any("." in name for name, _ in self.renamed):
            return None
        named = {name: each for name, each in given.items() if name not in dict(self.renamed)}
        named |= {new: given[name] for name, new in self.renamed if name in given}
        try:
            for name, value in self.partitions:
                named[name] = pyarrow.repeat(pyarrow.scalar(value), batch.num_rows)
        except OverflowError:
            return None
        return pyarrow.RecordBatch.from_pydict(named)


UNNAMED = EventDefaults()


def _inside(document: Any, path: str) -> Any:
    for step in path.split("."):
        document = document.get(step) if isinstance(document, dict) else None
    return document


def namings_of(names: Mapping[str, str], renamed: Renamed = ()) -> dict[str, EventDefaults]:
    """Returns the defaults of each file; files by their names, as people gave them."""
    found = {file: _in_folders(name) for file, name in names.items()}
    values: dict[str, set[str]] = {}
    for each in found.values():
        for key, text in each.items():
            values.setdefault(key, set()).add(text)
    typed = {key: _typed(texts) for key, texts in values.items()}
    return {
        file: EventDefaults(renamed, tuple((key, typed[key][text]) for key, text in each.items()))
        for file, each in found.items()
    }


def _in_folders(name: str) -> dict[str, str]:
    """Returns the keys and values of the folders in which a file lies."""
    from tamis.files.reading import ReadingError

    found: dict[str, str] = {}
    for step in os.path.dirname(name).split(os.sep):
        key, equals, text = step.partition("=")
        key = unquote(key)
        if key in found:
            raise ReadingError(
                f"{name} lies in two folders of {key}: one of them has to be renamed"
            )
        if key and equals:
            found[key] = unquote(text)
    return found


def _typed(texts: set[str]) -> dict[str, Partition]:
    """Returns the values that texts stand for."""
    found: dict[str, Partition] = dict.fromkeys(texts & {*_ABSENT})
    there = texts - {*_ABSENT}
    whole = {text: int(text) for text in there if _WHOLE.fullmatch(text)}
    fractions = {text: float(text) for text in there - whole.keys() if _NUMBER.fullmatch(text)}
    beyond = any(abs(each) >= _MOST_BESIDE_FRACTIONS for each in whole.values())
    if len(whole) + len(fractions) < len(there) or (fractions and beyond):
        return found | {text: text for text in there}
    return found | whole | fractions
