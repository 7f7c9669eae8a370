"""Counts the events of a table: plain columns as arrays, anything else row by row.

A column of numbers, strings or booleans is counted without making an event of any row. Whatever
needs whole events (envelopes, ids that may be none, paths into objects, attributes that do not say
what they are derived from) has them made, and is counted as lines are.
Invariant: a batch is counted as its rows would be, one by one.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

from tamis.event import Event
from tamis.event.clock import moment
from tamis.files.naming import UNNAMED, EventDefaults
from tamis.files.parquet import dicts, require_arrow
from tamis.files.reading import FileLine
from tamis.learning.learner import Learner
from tamis.statistics.values import Values, numbers_of


def learn_batch(
    learner: Learner,
    batch: Any,
    *,
    name: str = "",
    first: int = 1,
    folder: str = "",
    naming: EventDefaults = UNNAMED,
) -> Iterator[dict[str, Any]]:
    """Teaches the rows of a batch; gives what it rejects.

    `name` is the file of the rows, `first` the number of the first of them there; rows without a
    file have no made-up ids."""
    named = naming.batch(batch)
    if named is None or not _is_plain(learner, named.schema):
        rows = map(naming.document, dicts(batch))
        yield from _one_by_one(learner, rows, name, first, folder)
        return
    batch = named
    numbers = np.arange(first, first + batch.num_rows)
    window = learner.task.window
    if window:
        held = np.array([window.holds(each) for each in _epochs(learner, batch)], np.bool_)
        learner.count(passed_over=len(held) - int(held.sum()))
        batch, numbers = batch.filter(require_arrow().array(held)), numbers[held]
    learner.count(events=batch.num_rows)
    _gather(learner, batch)
    if learner.samples:
        _observe(learner, batch, name, numbers.tolist(), folder)


def _is_plain(learner: Learner, schema: Any) -> bool:
    """Returns whether no row has to be an event for its attributes to be counted."""
    types = require_arrow().types
    kinds = {field.name: field.type for field in schema}
    if len(kinds) < len(schema) or {"specversion", "data"} <= kinds.keys():
        return False
    id = kinds.get("id")
    if id is not None and not (_is_text(types, id) or types.is_integer(id) or types.is_null(id)):
        return False
    for asked in learner.gatherer.asked:
        if asked in learner.derived:
            inputs = learner.derived[asked].inputs
            if not inputs or any("." in each for each in inputs):
                return False
        else:
            object_ = kinds.get(asked.partition(".")[0])
            if object_ is not None and types.is_nested(object_):
                return False
    return True


def _is_text(types: Any, kind: Any) -> bool:
    return bool(types.is_string(kind) or types.is_large_string(kind))


def _one_by_one(
    learner: Learner, rows: Iterable[Any], name: str, first: int, folder: str
) -> Iterator[dict[str, Any]]:
    file = os.path.basename(name)
    for number, row in enumerate(rows, first):
        line = FileLine(name, number if name else 0, row, None, None)
        rejected = learner.line(line, folder, f"{file}:{number}" if name else None)
        if rejected is not None:
            yield rejected


def _epochs(learner: Learner, batch: Any) -> Iterator[object]:
    """Yields the moment of each row, in seconds since 1970."""
    names = [name for name in ("time", "time.epoch") if name in batch.schema.names]
    if not names:
        yield from [None] * batch.num_rows
        return
    for row in dicts(batch.select(names)):
        own = Event(row, "", {}).scalar("time.epoch")
        found = moment(row.get("time"), learner.zone) if own is None else None
        yield own if found is None else found.epoch


def _gather(learner: Learner, batch: Any) -> None:
    """Counts the attributes of all rows."""
    gatherer, schema = learner.gatherer, batch.schema
    asked = set(gatherer.asked)
    for field in schema:
        if field.name in asked:
            continue
        column = batch.column(field.name)
        if field.name == "id" and require_arrow().types.is_integer(field.type):
            column = column.cast("string")
        values = _values(column)
        if values is not None:
            gatherer.take(field.name, values)
        else:
            rows = dicts(batch.select([field.name]))
            gatherer.take_raw(field.name, [row[field.name] for row in rows])
    if "time" not in schema.names and not asked:
        return
    read = {"time", *asked}
    for name in asked & learner.derived.keys():
        read.update(learner.derived[name].inputs)
    names = [field.name for field in schema if field.name in read]
    if not names:
        return
    keys = frozenset(schema.names)
    has_time = "time" in keys
    for row in dicts(batch.select(names)):
        if asked:
            gatherer.ask(Event(row, "", learner.derived), gatherer.asked)
        if has_time:
            gatherer.tell_time(row["time"], keys)
    gatherer.settle()


def _values(column: Any) -> Values | None:
    """Returns the values of a column of plain numbers, strings or booleans; `None` of any other."""
    arrow = require_arrow()
    types, kind = arrow.types, column.type
    if types.is_null(kind):
        return Values()
    if types.is_floating(kind) or types.is_integer(kind):
        if column.null_count:
            column = column.drop_null()
        given = column.to_numpy(zero_copy_only=False)
        return numbers_of(
            given.astype(np.float64), column.to_pylist() if _is_wide(given) else given
        )
    if types.is_boolean(kind):
        true = column.true_count
        return Values(true=true, false=len(column) - column.null_count - true)
    if _is_text(types, kind):
        counted = column.drop_null().value_counts()
        strings = counted.field("values").to_pylist()
        return Values(strings=dict(zip(strings, counted.field("counts").to_pylist(), strict=True)))
    return None


def _is_wide(given: Any) -> bool:
    """Returns whether integers may be too large for doubles; those have to stay what they are."""
    return given.dtype.kind in "iu" and given.dtype.itemsize == 8 and _is_beyond(given)


def _is_beyond(given: Any) -> bool:
    return bool(len(given)) and (int(given.max()) >= 2**53 or int(given.min()) <= -(2**53))


def _observe(learner: Learner, batch: Any, name: str, numbers: list[int], folder: str) -> None:
    """Makes the calls about the rows that are in the sample."""
    file = os.path.basename(name)
    columns = batch.schema.names
    rows: Any = None
    if "id" in columns and learner.task.sample < 1:
        few = [each for each in ("id", "time") if each in columns]
        heads = dicts(batch.select(few))
        chosen = [
            at
            for at, head in enumerate(heads)
            if not head["id"] or learner.is_chosen(Event.of(head, str, {}))
        ]
        rows = dicts(batch.take(require_arrow().array(chosen, "int64")))
        numbers = [numbers[at] for at in chosen]
    else:
        rows = dicts(batch)
    for number, row in zip(numbers, rows, strict=True):
        default = f"{file}:{number}" if name else ""
        learner.observe(Event.of(row, partial(str, default), learner.derived, folder))
