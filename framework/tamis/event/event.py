"""Reads events: objects whose scalars are attributes and whose rest is content.

Only values that are asked for are read. An event is never changed: views of operators refuse it.
"""

from __future__ import annotations

import copy
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar

from tamis.errors import EventError, PluginWarning
from tamis.event.paths import FILE, form_of
from tamis.language.predicate import ITSELF
from tamis.language.values import Scalar, as_scalar

_ENVELOPE_ATTRIBUTES = ("type", "source", "subject")
_EMPTY: Mapping[str, DerivedAttribute] = {}

T = TypeVar("T")


@dataclass(frozen=True)
class DerivedAttribute:
    """A cheap scalar made from an event, or array of them, when a subscription names it."""

    name: str
    derive: Callable[[Event], Scalar | Sequence[Scalar] | None]
    description: str = ""
    inputs: tuple[str, ...] = ()
    """The inputs of `make`: where one is absent, so is the attribute; where all are there and it
    cannot be made, one of them is bad, and declarations on the attribute decide nothing."""


def itself(name: str) -> str:
    """Returns the name of a derived attribute itself, which no key of an event can have."""
    return ITSELF + name


def plain_name(name: str) -> str:
    """Returns the name of an attribute as people know it."""
    return name.removeprefix(ITSELF)


def is_itself(name: str) -> bool:
    """Returns whether a name is that of a derived attribute itself."""
    return name.startswith(ITSELF)


class Event:
    """An event that is being matched."""

    __slots__ = ("_known", "_made", "content", "derived", "folder", "id", "views")

    def __init__(
        self,
        content: Mapping[str, Any],
        id: str,
        derived: Mapping[str, DerivedAttribute] = _EMPTY,
        folder: str = "",
    ) -> None:
        self.folder = folder
        self.content = content
        self.id = id
        self.derived = derived
        self._known: dict[str, Scalar | None] = {}
        self._made: dict[object, Any] = {}
        self.views: dict[tuple[str, ...] | None, EventView] = {}
        """The views that were made, by the inputs that operators may see."""

    @classmethod
    def of(
        cls,
        document: object,
        made_up_id: Callable[[], str],
        derived: Mapping[str, DerivedAttribute] = _EMPTY,
        folder: str = "",
    ) -> Event:
        """Returns the event that a document holds; `EventError` if it holds none.

        A relative path in `image`, `facts` or `sound` is relative to the folder, for operators."""
        if not isinstance(document, Mapping):
            raise EventError(f"an event is an object, and this is {_article(document)}")
        content = document
        if "specversion" in content and "data" in content:
            content = _opened(content)
        id = content.get("id")
        if type(id) is str:
            return cls(content, id, derived, folder)
        if _absent(id):
            return cls(content, made_up_id(), derived, folder)
        scalar = as_scalar(id)
        if scalar is None or isinstance(scalar, bool):
            raise EventError(f"the id of an event is a string or a number, not {_article(id)}")
        text = str(scalar)
        return cls({**content, "id": text}, text, derived, folder)

    def value(self, name: str) -> object:
        """Returns the value of the key of that name, else along the path; `None` when absent."""
        if name[:1] == "\0" and is_itself(name):
            derived = self.derived.get(plain_name(name))
            return None if derived is None else self._derive(derived)
        found = self.content.get(name)
        if not _absent(found):
            return found
        if "." in name:
            inner: object = self.content
            for step in name.split("."):
                inner = inner.get(step) if isinstance(inner, Mapping) else None
                if inner is None:
                    break
            if not _absent(inner):
                return inner
        derived = self.derived.get(name)
        return None if derived is None else self._derive(derived)

    def _derive(self, derived: DerivedAttribute) -> object:
        """Returns a derived attribute, made once; absent, with a warning, when that fails."""
        if derived.name in self._made:
            return self._made[derived.name]
        value: object = None
        try:
            value = derived.derive(self)
        except Exception as failure:
            warnings.warn(
                f"the attribute {derived.name} is absent where it cannot be derived: "
                f"{type(failure).__name__}: {failure}",
                PluginWarning,
                stacklevel=2,
            )
        self._made[derived.name] = None if _absent(value) else value
        return self._made[derived.name]

    def made(self, make: Callable[[Event], T]) -> T:
        """Makes something of the event once, for attributes that come from one thing.

        A function that raises is called again."""
        try:
            found: T = self._made[make]
        except KeyError:
            found = self._made[make] = make(self)
        return found

    def is_undecided(self, name: str) -> bool:
        """Returns whether a derived attribute cannot be made although all its inputs are there."""
        if self.scalar(name) is not None or self.array(name) is not None:
            return False
        derived = self.derived.get(plain_name(name))
        return derived is None or all(map(self.present, derived.inputs))

    def scalar(self, name: str) -> Scalar | None:
        """Returns the attribute of that name, `None` when it is absent or no scalar."""
        try:
            return self._known[name]
        except KeyError:
            value = self._known[name] = as_scalar(self.value(name))
            return value

    def lacks(self, name: str) -> bool:
        """Returns whether the attribute of that name was asked for, and is absent."""
        return self._known.get(name, name) is None

    def array(self, name: str) -> tuple[Scalar, ...] | None:
        """Returns the array of scalars of that name, without absent elements, else `None`."""
        value = self.value(name)
        if not isinstance(value, (list, tuple)):
            if getattr(value, "ndim", None) != 1 or not hasattr(value, "tolist"):
                return None
            value = value.tolist()
        elements = []
        for element in value:
            scalar = as_scalar(element)
            if scalar is not None:
                elements.append(scalar)
            elif not _absent(element):
                return None
        return tuple(elements)

    def present(self, name: str) -> bool:
        """Returns whether the event has any value of that name."""
        return self.value(name) is not None

    def view(self, inputs: tuple[str, ...] | None) -> EventView:
        """Returns the event as operators with these inputs may see it; one view for all of them."""
        view = self.views.get(inputs)
        if view is None:
            view = self.views[inputs] = EventView(self, inputs)
        return view


class EventView(Mapping[str, Any]):
    """A read-only view of the declared inputs of an event, or of all of it."""

    __slots__ = ("_event", "_frozen", "_inputs", "prepared")

    def __init__(self, event: Event, inputs: tuple[str, ...] | None) -> None:
        self._event = event
        self._inputs = inputs
        self._frozen: dict[str, Any] = {}
        self.prepared: object = None

    @property
    def id(self) -> str:
        """The event's id."""
        return self._event.id

    def __getitem__(self, name: str) -> Any:
        try:
            return self._frozen[name]
        except KeyError:
            pass
        if self._inputs is not None and name not in self._inputs:
            raise KeyError(f"the operator does not declare {name!r} among its inputs")
        value = self._event.value(name)
        if value is None:
            raise KeyError(f"the event has no {name!r}")
        if self._event.folder and form_of(name, value) == FILE:
            value = os.path.join(self._event.folder, str(value))
        frozen = self._frozen[name] = freeze(value)
        return frozen

    def __iter__(self) -> Iterator[str]:
        if self._inputs is None:
            return (name for name, value in self._event.content.items() if not _absent(value))
        return (name for name in self._inputs if self._event.value(name) is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"<event {self.id} showing {', '.join(self) or 'nothing'}>"


def _refuse(self: object, *args: object, **kwargs: object) -> NoReturn:
    raise TypeError("an operator cannot change the event")


class ReadOnlyDict(dict[str, Any]):
    """An object of the event, to read only; a copy of it is a plain `dict`."""

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (list(self.items()),)

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, Any]:
        return {key: copy.deepcopy(value, memo) for key, value in self.items()}

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse


class ReadOnlyList(list[Any]):
    """An array of the event, to read only; a copy of it is a plain `list`."""

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (tuple(self),)

    def __deepcopy__(self, memo: dict[int, Any]) -> list[Any]:
        return [copy.deepcopy(value, memo) for value in self]

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse


def freeze(value: Any) -> Any:
    """Returns the value in a form that cannot be changed; arrays are shared, not copied."""
    if isinstance(value, Mapping):
        return ReadOnlyDict({key: freeze(inner) for key, inner in value.items()})
    if isinstance(value, list):
        return ReadOnlyList([freeze(inner) for inner in value])
    if type(value) is tuple:
        return tuple(freeze(inner) for inner in value)
    if isinstance(value, (set, frozenset)):
        return frozenset(freeze(inner) for inner in value)
    if isinstance(value, bytearray):
        return bytes(value)
    if hasattr(value, "setflags") and hasattr(value, "dtype"):
        return _read_only(value)
    return value


def _read_only(array: Any) -> Any:
    """Returns the array over memory that cannot be made writable again; objects are copied."""
    import numpy

    if array.dtype.hasobject or array.dtype.kind in "mM":  # times have no plain memory
        array = array.copy()
        array.setflags(write=False)
        return array.view()
    return numpy.asarray(memoryview(array).toreadonly())


def _opened(envelope: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the event inside a CloudEvents envelope."""
    data = envelope["data"]
    if not isinstance(data, Mapping):
        raise EventError(f"the data of a CloudEvents envelope is an object, not {_article(data)}")
    outer = {
        name: envelope[name] for name in _ENVELOPE_ATTRIBUTES if not _absent(envelope.get(name))
    }
    over = {name: envelope[name] for name in ("id", "time") if not _absent(envelope.get(name))}
    inner = {name: value for name, value in data.items() if not _absent(value) or name not in outer}
    return {**outer, **inner, **over}


def _absent(value: object) -> bool:
    if value is None:
        return True
    if isinstance(value, float):
        return value != value
    return getattr(value, "shape", None) == () and bool(value != value)


def _article(value: object) -> str:
    names = {
        list: "an array",
        str: "a string",
        bool: "a boolean",
        type(None): "null",
        dict: "an object",
    }
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return "a number"
    return names.get(type(value), f"a {type(value).__name__}")
