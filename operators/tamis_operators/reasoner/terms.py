"""Numbers terms, and says which scalar each is in a solution.

A table may stand on another one, that of the ontology, and numbers what that does not know.
A scalar is: an integer, a float or a boolean where a literal's datatype says so and its text is
one; the text of any other literal, without its language or datatype; else a name (`names`).
"""

from __future__ import annotations

import math
import re
from decimal import Decimal

import pyoxigraph as ox

from tamis.kit import Scalar, kind_of
from tamis_operators.reasoner.vocabulary import DATATYPES, INTERNAL, IRIS, SUPERTYPES, XSD

Term = ox.NamedNode | ox.BlankNode | ox.Literal

_DIGITS = 1_000
_LIMITS: dict[str, tuple[int | None, int | None]] = {
    "integer": (None, None),
    "long": (-(1 << 63), (1 << 63) - 1),
    "int": (-(1 << 31), (1 << 31) - 1),
    "short": (-(1 << 15), (1 << 15) - 1),
    "byte": (-(1 << 7), (1 << 7) - 1),
    "nonNegativeInteger": (0, None),
    "positiveInteger": (1, None),
    "unsignedLong": (0, (1 << 64) - 1),
    "unsignedInt": (0, (1 << 32) - 1),
    "unsignedShort": (0, (1 << 16) - 1),
    "unsignedByte": (0, (1 << 8) - 1),
    "nonPositiveInteger": (None, 0),
    "negativeInteger": (None, -1),
}
_INTEGERS = {XSD + name: limits for name, limits in _LIMITS.items()}
_FLOATS = (XSD + "double", XSD + "float")
_DECIMAL = XSD + "decimal"
_BOOLEAN = XSD + "boolean"
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
_ZONE = r"(Z|[+-]((0\d|1[0-3]):[0-5]\d|14:00))"
_DATE = r"-?([1-9]\d{3,}|0\d{3})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"
_TIME = r"(([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?|24:00:00(\.0+)?)"
_NAME = r"[^\W\d][\w.\-·]*"
_TEXTS = {
    XSD + name: re.compile(pattern)
    for name, pattern in {
        "integer": r"[+-]?[0-9]+",
        "decimal": r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)",
        "double": r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?INF|NaN",
        "boolean": "true|false|1|0",
        "hexBinary": "([0-9a-fA-F]{2})*",
        "base64Binary": r"(([A-Za-z0-9+/] ?){4})*(([A-Za-z0-9+/] ?){2,3} ?={1,2} ?)?",
        "dateTime": f"{_DATE}T{_TIME}{_ZONE}?",
        "dateTimeStamp": f"{_DATE}T{_TIME}{_ZONE}",
        "date": f"{_DATE}{_ZONE}?",
        "time": f"{_TIME}{_ZONE}?",
        "normalizedString": r"[^\r\n\t]*",
        "token": r"([^\s]+( [^\s]+)*)?",
        "language": r"[a-zA-Z]{1,8}(-[a-zA-Z0-9]{1,8})*",
        "Name": rf"[:]?{_NAME}(:[\w.\-·]*)*",
        "NCName": _NAME,
        "NMTOKEN": r"[\w.\-:·]+",
    }.items()
}
_TEXTS |= dict.fromkeys(_INTEGERS, _TEXTS[XSD + "integer"])
_TEXTS[XSD + "float"] = _TEXTS[XSD + "double"]
_KEEP_SPACES = {XSD + "normalizedString", XSD + "token"}


class Terms:
    """The numbers of terms, over those of `base`."""

    def __init__(self, base: Terms | None = None) -> None:
        self.base = base
        self.first = 0 if base is None else len(base)
        self._terms: list[Term | None] = []
        self._numbers: dict[Term, int] = {}
        self._literals: set[int] = set()
        if base is None:
            for number, iri in enumerate(IRIS):
                if number in INTERNAL:
                    self._terms.append(None)
                else:
                    self.number(ox.NamedNode(iri))

    def __len__(self) -> int:
        return self.first + len(self._terms)

    def number(self, term: Term) -> int:
        """Returns the number of a term; a new one where it has none."""
        found = self.known(term)
        if found is None:
            found = self._numbers[term] = len(self)
            self._terms.append(term)
            if isinstance(term, ox.Literal):
                self._literals.add(found)
        return found

    def known(self, term: Term) -> int | None:
        """Returns the number of a term, or `None`. Blank nodes are of one document."""
        found = self._numbers.get(term)
        if found is None and self.base is not None and not isinstance(term, ox.BlankNode):
            return self.base.known(term)
        return found

    def term(self, number: int) -> Term | None:
        """Returns the term of a number, `None` of an internal one."""
        if number < self.first:
            assert self.base is not None
            return self.base.term(number)
        return self._terms[number - self.first]

    def is_literal(self, number: int) -> bool:
        """Returns whether a term is a literal."""
        return number in self._literals or (self.base is not None and self.base.is_literal(number))

    def literals(self) -> list[int]:
        """Returns the literals of this table alone."""
        return sorted(self._literals)

    def cardinality(self, number: int) -> int:
        """Returns the number that a literal says, -1 where it says none."""
        term = self.term(number)
        value = literal_value(term) if isinstance(term, ox.Literal) else None
        return value if isinstance(value, int) and not isinstance(value, bool) else -1


def flaw(literal: ox.Literal) -> str | None:
    """Says why a literal's text is none of its datatype."""
    datatype = literal.datatype.value
    pattern = _TEXTS.get(datatype)
    if pattern is None:
        return None
    text = literal.value if datatype in _KEEP_SPACES else literal.value.strip(" \t\r\n")
    fits = pattern.fullmatch(text) is not None
    if fits and datatype in _INTEGERS and len(text) <= _DIGITS:
        low, high = _INTEGERS[datatype]
        value = int(text)
        fits = (low is None or low <= value) and (high is None or value <= high)
    if fits:
        return None
    return f"{literal.value[:80]!r} is not an {shown_datatype(datatype)}"


def shown_datatype(datatype: str) -> str:
    """Returns a datatype in words."""
    return f"xsd:{datatype[len(XSD) :]}" if datatype.startswith(XSD) else datatype


def literal_value(literal: ox.Literal) -> Scalar:
    """Returns the value of a literal in solutions."""
    datatype, text = literal.datatype.value, literal.value
    if datatype == XSD + "string":
        return text
    pattern = _TEXTS.get(datatype)
    plain = text.strip(" \t\r\n")
    if pattern is None or pattern.fullmatch(plain) is None:
        return text
    if datatype == _BOOLEAN:
        return _BOOLEANS[plain]
    if datatype in _INTEGERS:
        return int(plain) if len(plain) <= _DIGITS else float(plain)
    if datatype == _DECIMAL:
        number = Decimal(plain)
        whole = len(plain) <= _DIGITS and number == number.to_integral_value()
        return int(number) if whole else float(number)
    if datatype in _FLOATS:
        value = float(plain.replace("INF", "inf"))
        return text if math.isnan(value) else value
    return text


def datatype_numbers(literal: ox.Literal) -> tuple[int, ...]:
    """Returns the datatypes of a literal, its own first; none that OWL 2 RL lacks."""
    if literal.language:
        return ()
    own = DATATYPES.get(literal.datatype.value)
    return () if own is None else (own, *SUPERTYPES.get(own, ()))


def literals_by_value(terms: Terms) -> dict[tuple[int, Scalar], list[int]]:
    """Returns the literals of a table alone by kind and value."""
    found: dict[tuple[int, Scalar], list[int]] = {}
    for number in terms.literals():
        literal = terms.term(number)
        assert isinstance(literal, ox.Literal)
        value = literal_value(literal)
        found.setdefault((kind_of(value), value), []).append(number)
    return found
