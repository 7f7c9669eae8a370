"""Cuts the letters of a subscription into tokens, by one compiled pattern.

`SIGNS` and `RESERVED` are the tables of all spellings: `spelled` makes patterns of them, this one's
and those of whoever looks at letters without cutting them.
Invariant: every token knows its place; nothing is copied but the token. Cost: linear.
"""

from __future__ import annotations

import re
from typing import NamedTuple, NoReturn

from tamis.errors import SubscriptionError
from tamis.language.comparison import RELATIONS
from tamis.language.text import BOOLEANS, LETTER, NAME, RESERVED, WORD
from tamis.language.units import UNITS, in_base_unit
from tamis.language.values import Scalar, canonical_number
from tamis.limits import Limits
from tamis.nearest import did_you_mean
from tamis.words import a

SYMBOLS = {"==": "=", "<>": "!=", "≠": "!=", "≤": "<=", "≥": ">="}
_WORDS = {"∧": "and", "&&": "and", "∨": "or", "||": "or", "¬": "not", "!": "not", "∈": "in"}
SIGNS = {sign: sign for sign in (*RELATIONS, *"+-*/(){}[],∉")} | SYMBOLS | _WORDS
"""The meaning of every sign: a symbol, or a word of the language."""
KINDS: dict[str, tuple[str, Scalar]] = {word: (word, word) for word in RESERVED}
KINDS |= {word: ("boolean", value) for word, value in BOOLEANS.items()}
KINDS |= {sign: (meaning, meaning) for sign, meaning in SIGNS.items()} | {"": ("end", "")}
"""The kind of token that a word, a sign or the end is, and its value."""
_LONGEST_FIRST = sorted(SIGNS, key=len, reverse=True)
TERMS = frozenset(("number", "string", "boolean", "name", "variable", "attribute"))


def spelled(*meanings: str) -> str:
    """Returns the pattern of whatever means one of these symbols and words."""
    signs = [sign for sign in _LONGEST_FIRST if SIGNS[sign] in meanings]
    others = [each for each in SIGNS if each not in signs and each.startswith(tuple(signs))]
    words = [rf"(?<![\w.?$])(?ai:{word})(?!{LETTER})" for word in meanings if word in RESERVED]
    unlike = f"(?!{'|'.join(map(re.escape, others))})" if others else ""
    return f"{unlike}(?:{'|'.join([*words, *map(re.escape, signs)])})"


_DIGITS = r"[0-9](?:_?[0-9])*"
NUMBER = rf"{_DIGITS}(?:\.{_DIGITS})?(?:[eE][+-]?[0-9]+)?"
_BACKTICKS = r"`(?:[^`\\]|\\.)+`"
_STRING = r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""
QUOTED = rf"{_STRING}|{_BACKTICKS}"
_TOKEN = re.compile(
    rf"""\s*+(?:
      (?P<number>{NUMBER})
    | (?P<variable>\?(?:{WORD}|{_BACKTICKS}))
    | (?P<attribute>\$(?:{NAME}|{_BACKTICKS}))
    | (?P<name>{NAME}|{_BACKTICKS})
    | (?P<string>{_STRING})
    | (?P<sign>{"|".join(map(re.escape, _LONGEST_FIRST))})
    | (?P<end>\Z))
    """,
    re.VERBOSE | re.DOTALL,
)
SEPARATORS = re.compile(rf"[,}}]|{QUOTED}|[\"'`].*", re.DOTALL)
_SHOWN = 40
_UNIT = re.compile(r"[^\W\d]\w*")
_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|x[0-9a-fA-F]{2}|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_ITSELF = "\"'\\/`"
_SURROGATES = re.compile("[\ud800-\udbff][\udc00-\udfff]")


class Token(NamedTuple):
    """A kind, what it stands for, and its place.

    The kind is one of `TERMS` or `end`; a word of the language or a symbol is a kind of its own."""

    kind: str
    value: Scalar
    start: int
    end: int
    dimension: str | None = None

    def __str__(self) -> str:
        if self.kind == "end":
            return "the end of the text"
        letters = str(self.value).lower() if self.kind == "boolean" else str(self.value)
        return f"'{letters if len(letters) <= _SHOWN else letters[:_SHOWN] + '…'}'"


class Scanner:
    """Reads one text token by token; `at` is the place of the next one."""

    def __init__(self, text: str, limits: Limits, at: int = 0) -> None:
        self.text = text
        self.limits = limits
        self.at = at
        self._ahead: Token | None = None

    def peek(self) -> Token:
        """Returns the next token, without taking it."""
        if self._ahead is None:
            self._ahead = self._read()
        return self._ahead

    def take(self) -> Token:
        """Returns the next token."""
        token = self._ahead or self._read()
        self._ahead = None
        self.at = token.end
        return token

    def found(self, value: str) -> bool:
        """Takes the next token if it is this word or symbol."""
        if self.peek().kind != value:
            return False
        self.take()
        return True

    def expect(self, value: str, why: str) -> Token:
        """Takes the next token, which must be this word or symbol."""
        token = self.peek()
        if not self.found(value):
            self.fail(f"expected '{value}' {why}, found {token}", token)
        return token

    def fail(self, problem: str, place: Token | int) -> NoReturn:
        """Raises the error at a place."""
        position = place if isinstance(place, int) else place.start
        raise SubscriptionError(problem, text=self.text, position=position)

    def _read(self) -> Token:
        matched = _TOKEN.match(self.text, self.at)
        if matched is None:
            self._unreadable(len(self.text) - len(self.text[self.at :].lstrip()))
        kind, place = str(matched.lastgroup), matched.lastindex or 0
        letters = matched[place]
        start, end = matched.span(place)
        known = KINDS.get(letters.lower())
        if known is not None:
            return Token(known[0], known[1], start, end)
        if kind == "number":
            return self._number(letters, start, end)
        if kind in ("variable", "attribute"):
            letters = letters[1:]
        if letters[:1] in ("`", '"', "'"):
            letters = unescaped(letters[1:-1])
        return Token(kind, letters, start, end)

    def _number(self, letters: str, start: int, end: int) -> Token:
        digits = letters.replace("_", "")
        if len(digits) > 1 and digits[0] == "0" and digits[1].isdigit():
            self.fail("a number does not begin with 0 unless it is below 1", start)
        if digits.isdigit() and len(digits) > self.limits.integer_digits:
            self.fail(f"an integer has at most {self.limits.integer_digits:,} digits", start)
        unit, dimension = "", None
        following = _UNIT.match(self.text, end)
        if following is not None and following.group().lower() not in ("and", "or"):
            unit = self._unit(following.group(), end, start)
            dimension = UNITS[unit][0]
            end += len(unit)
        elif self.text.startswith(".", end):
            self.fail("a number has digits after its point", end)
        value = self.number(digits, unit, start)
        return Token("number", value, start, end, dimension)

    def number(self, digits: str, unit: str, start: int) -> int | float:
        """Returns the value of digits and a unit, in the base unit."""
        try:
            if unit:
                product = in_base_unit(digits, unit)
                if not digits.isdigit():
                    float(product)
                elif isinstance(product, int) and product >= 10**self.limits.integer_digits:
                    self.fail(
                        f"an integer has at most {self.limits.integer_digits:,} digits", start
                    )
                return product
            if digits.isdigit():
                return int(digits)
            value = float(digits)
            if value != float("inf"):
                return canonical_number(value)
        except OverflowError:
            pass
        self.fail("this number is too large for a double", start)

    def _unit(self, word: str, end: int, start: int) -> str:
        """Returns the longest unit at this place."""
        after = end + len(word)
        if self.text.startswith("/", after):
            second = _UNIT.match(self.text, after + 1)
            if second is not None and f"{word}/{second.group()}" in UNITS:
                return f"{word}/{second.group()}"
        if word in UNITS:
            return word
        hint = did_you_mean(word, UNITS) or f"; units are {', '.join(UNITS)}"
        self.fail(f"unknown unit '{word}'{hint}", end)

    def _unreadable(self, start: int) -> NoReturn:
        letter = self.text[start]
        if letter in "\"'":
            self.fail("this string has no closing quote", start)
        if letter == "`":
            self.fail("a name in backticks has a closing backtick and a letter between", start)
        if letter in "?$":
            what = "variable" if letter == "?" else "attribute"
            self.fail(f"expected the name of {a(what)} after '{letter}'", start)
        if letter == "." and self.text[start + 1 : start + 2].isdigit():
            self.fail("a number begins with a digit: write 0 before the point", start)
        shown = letter if letter.isprintable() else f"\\x{ord(letter):02x}"
        hint = {"&": "; write 'and' or '&&'", "|": "; write 'or' or '||'", ";": "; write ','"}
        self.fail(f"'{shown}' means nothing here{hint.get(letter, '')}", start)


def unescaped(letters: str) -> str:
    """Returns a string without its quotes, backslash escapes resolved.

    A backslash before a letter that stands for nothing stays, so that `matches "\\d+"` means what
    it says."""
    if "\\" not in letters:
        return letters
    plain = _ESCAPE.sub(_escape, letters)
    return _SURROGATES.sub(lambda pair: _joined(pair.group()), plain)


def _escape(matched: re.Match[str]) -> str:
    letters = matched.group()
    code = letters[1]
    if len(letters) > 2:
        value = int(letters[2:], 16)
        return chr(value) if value <= 0x10FFFF else letters
    if code in _ITSELF:
        return code
    return _ESCAPES.get(code, letters)


def _joined(pair: str) -> str:
    return pair.encode("utf-16", "surrogatepass").decode("utf-16")
