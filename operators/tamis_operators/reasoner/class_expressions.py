"""Reads class expressions: Manchester syntax, into a tree that names terms as written.

    PoliceCar and not Parked
    PoliceCar and (follows some (Vehicle or {ferry1, ferry2}))
    follows min 2 Vehicle          inverse follows some Thing         follows value car7
    speed some decimal[>= 50, < 90]        name value "Aurora"        follows some Self

`or` binds loosest, then `and` (or `that`), then `not` and restrictions. Names are bare (local
names), `prefix:name`, or IRIs in angle brackets.
Invariant: a tree is nested tuples of plain values, equal for expressions that differ in spacing
only. Cost: O(text), nested at most 50 deep.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

DATATYPES = (
    "boolean", "byte", "dateTime", "decimal", "double", "float", "int", "integer", "long",
    "nonNegativeInteger", "positiveInteger", "short", "string",
)  # fmt: skip
FACETS = {
    "<=": "maxInclusive",
    "<": "maxExclusive",
    ">=": "minInclusive",
    ">": "minExclusive",
    "length": "length",
    "minLength": "minLength",
    "maxLength": "maxLength",
    "pattern": "pattern",
}
_DEEPEST = 50
_MOST = 10_000
_TOKEN = re.compile(
    r"\s*(?:(?P<iri><[^<>\s]+>)|(?P<text>\"(?:[^\"\\]|\\.)*\")"
    r"|(?P<number>[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?f?(?![\w.]))"
    r"|(?P<name>(?:[^\W\d][\w-]*)?:?[^\W\d](?:[\w.-]*\w)?)|(?P<sign><=|>=|[(){},\[\]<>]))"
)
_QUANTIFIED = ("some", "only", "value", "min", "max", "exactly")
_RESERVED = frozenset((*_QUANTIFIED, "and", "or", "not", "that", "inverse", "Self"))


class Name(NamedTuple):
    """A term as it is written."""

    letters: str


class TypedLiteral(NamedTuple):
    """A value with its datatype."""

    letters: str
    datatype: str


class ExpressionError(ValueError):
    """An expression that cannot be read, with what was expected and where."""


IsData = Callable[[Name], bool]


def read(text: str, is_data: IsData) -> Any:
    """Returns the tree of an expression; `is_data` says which properties take literals."""
    if len(text) > _MOST:
        raise ExpressionError(f"a class expression has at most {_MOST:,} characters")
    reader = _ExpressionReader(text, is_data)
    tree = reader.union()
    if reader.token is not None:
        raise reader.refusal("and, or, or the end")
    return tree


class _ExpressionReader:
    """One token ahead."""

    def __init__(self, text: str, is_data: IsData) -> None:
        self.text = text
        self.is_data = is_data
        self._depth = 0
        self._end = 0
        self.step()

    def step(self) -> tuple[str, str]:
        """Goes on to the next token, and gives the one that was read."""
        read = getattr(self, "kind", ""), getattr(self, "token", None) or ""
        self.at = self._end
        self.token: str | None = None
        self.kind = ""
        if self.text[self._end :].strip():
            found = _TOKEN.match(self.text, self._end)
            if found is None:
                raise self.refusal("a name, a number, a text or a sign")
            self.kind, self._end = str(found.lastgroup), found.end()
            self.token = found[self.kind]
        return read

    def refusal(self, wanted: str) -> ExpressionError:
        rest = self.text[self.at :].strip()
        place = f"at {rest[:20]!r}" if rest else "at the end"
        return ExpressionError(f"class expression: expected {wanted} {place}")

    def take(self, *tokens: str) -> str | None:
        """Returns the token, if it is one of these."""
        token = self.token
        if token in tokens and self.kind in ("sign", "name"):
            self.step()
            return token
        return None

    def want(self, *tokens: str) -> str:
        found = self.take(*tokens)
        if found is None:
            raise self.refusal(" or ".join(tokens))
        return found

    def name(self, what: str) -> Name:
        if self.kind == "iri" or (self.kind == "name" and self.token not in _RESERVED):
            return Name(self.step()[1])
        raise self.refusal(what)

    def union(self) -> Any:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise ExpressionError(f"a class expression is nested at most {_DEEPEST} deep")
        parts = [self._intersection()]
        while self.take("or"):
            parts.append(self._intersection())
        self._depth -= 1
        return parts[0] if len(parts) == 1 else ("or", *parts)

    def _intersection(self) -> Any:
        parts = [self._primary()]
        while self.take("and", "that"):
            parts.append(self._primary())
        return parts[0] if len(parts) == 1 else ("and", *parts)

    def _primary(self) -> Any:
        if self.take("not"):
            return ("not", self._nested(self._primary))
        if self.take("("):
            inside = self.union()
            self.want(")")
            return inside
        if self.take("{"):
            return ("in", *self._listed("}", lambda: self.name("an individual")))
        inverse = bool(self.take("inverse"))
        around = inverse and self.take("(")
        name = self.name("a class, a property, not, ( or {")
        if around:
            self.want(")")
        if self.token in _QUANTIFIED and self.kind == "name":
            return self._restriction(name, inverse)
        if inverse:
            raise self.refusal("some, only, value, min, max or exactly")
        return name

    def _restriction(self, name: Name, inverse: bool) -> Any:
        data = not inverse and self.is_data(name)
        way = ("inverse", name) if inverse else ("data" if data else "object", name)
        how = self.step()[1]
        if how == "value":
            return ("value", way, self._literal() if data else self.name("an individual"))
        if how in ("min", "max", "exactly"):
            if self.kind != "number" or not str(self.token).isdigit():
                raise self.refusal("a whole number")
            count = int(self.step()[1])
            if self._starts_primary():
                return (how, way, count, self._filler(data))
            return (how, way, count)
        if how == "some" and self.take("Self"):
            return ("self", way)
        return (how, way, self._filler(data))

    def _starts_primary(self) -> bool:
        if self.kind == "name":
            return self.token not in ("and", "or", "that")
        return self.kind == "iri" or self.token in ("(", "{")

    def _filler(self, data: bool) -> Any:
        return self._nested(self._data_range if data else self._primary)

    def _nested(self, read: Callable[[], Any]) -> Any:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise ExpressionError(f"a class expression is nested at most {_DEEPEST} deep")
        inside = read()
        self._depth -= 1
        return inside

    def _data_range(self) -> Any:
        if self.take("not"):
            return ("not data", self._nested(self._data_range))
        if self.take("{"):
            return ("one of", *self._listed("}", self._literal))
        name = self.name(f"a datatype ({', '.join(DATATYPES)})").letters.removeprefix("xsd:")
        if name not in DATATYPES:
            raise ExpressionError(
                f"class expression: {name} is not a datatype: {', '.join(DATATYPES)}"
            )
        if not self.take("["):
            return ("datatype", name)
        return ("facets", name, *self._listed("]", lambda: self._facet(name)))

    def _facet(self, datatype: str) -> tuple[str, TypedLiteral]:
        facet = FACETS[self.want(*FACETS)]
        letters = self._literal().letters
        return facet, TypedLiteral(
            letters,
            "string" if facet == "pattern" else "integer" if "ength" in facet else datatype,
        )

    def _listed(self, end: str, read: Callable[[], Any]) -> list[Any]:
        found = [read()]
        while self.take(","):
            found.append(read())
        self.want(end)
        return found

    def _literal(self) -> TypedLiteral:
        if self.kind == "text":
            return TypedLiteral(re.sub(r"\\(.)", r"\1", self.step()[1][1:-1]), "string")
        if self.kind == "number":
            letters = self.step()[1]
            if letters.endswith("f"):
                return TypedLiteral(letters[:-1], "float")
            if "e" in letters.lower():
                return TypedLiteral(letters, "double")
            return TypedLiteral(letters, "decimal" if "." in letters else "integer")
        token = self.take("true", "false")
        if token is None:
            raise self.refusal("a number, a text in double quotes, true or false")
        return TypedLiteral(str(token), "boolean")
