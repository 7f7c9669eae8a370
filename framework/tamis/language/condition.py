"""Reads a subscription's text as its alternatives, each a conjunction of atoms.

A condition on attributes alone that has fewer clauses than alternatives, and not just a few of
these, is one alternative, a conjunction of its clauses.

One pass with a stack of its own reads connectives; `not` is a prefix, so the sign under which an
atom stands is known when it is read, and negations are pushed down as they come. Alternatives are
counted before any is expanded. Atoms are interned by their source text: a conjunction of known
atoms costs one look-up an atom. The patterns are made of the scanner's tables.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, NoReturn

from tamis.language.atoms import BINARY, COMPARISONS, AtomReader
from tamis.language.comparison import INTERVALS, RELATIONS, Comparison
from tamis.language.constraint import Constraint
from tamis.language.normal import Branch, Leaf, expanded, once
from tamis.language.predicate import Atom, AttributePredicate, Disjunction, OperatorPredicate
from tamis.language.scanner import KINDS, QUOTED, SIGNS, Token, spelled
from tamis.language.text import NAME, RESERVED, WORD, name_text
from tamis.language.units import UNITS
from tamis.language.values import Scalar, canonical_number
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.nearest import nearest
from tamis.words import shortened

_INTERNED = 16_000
_AND = " and "
_FEW = 16
"""Alternatives up to which an index finds them many times faster than it decides clauses."""
_SHOWN = 40
_NUMBER = r"-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,17})?"
_RELATION, _IN = spelled(*RELATIONS), spelled("in")
_COMMON = re.compile(
    rf"""\s*+
    (?P<atom> (?!{spelled("not", "and", "or")}) {NAME}\s*\([^()"'`{{}}]*\)
      | (?P<attribute>{NAME})\s*(?P<op>{_RELATION})\s*
        (?: (?P<number>{_NUMBER}) | (?P<word>{NAME}) | "(?P<string>[^"\\]*)" )
      | \?{WORD}\s*{_RELATION}\s*{_NUMBER}
      | {NAME}\s*{_IN}\s*\{{[^{{}}"'`]*\}}
      | (?P<within>{NAME})\s*{_IN}\s*(?P<opening>[\[(])\s*(?P<low>{_NUMBER})\s*,
        \s*(?P<high>{_NUMBER})\s*(?P<closing>[\])])
    )
    (?=\s*+(?P<joint>\Z|[,)}}]|{spelled("and", "or")}))
    """,
    re.VERBOSE,
)
# groups are taken by their numbers, which is twice as fast as by their names
_PLACE_OF = _COMMON.groupindex
_ATOM, _JOINT = _PLACE_OF["atom"], _PLACE_OF["joint"]
_COMPARED = [_PLACE_OF[each] for each in ("attribute", "op", "number", "word", "string", "within")]
_BOUNDED = [_PLACE_OF[each] for each in ("opening", "low", "high", "closing")]
_COMPARING = spelled(*COMPARISONS)
_AFTER_GROUP = re.compile(
    rf"\s*(?:{spelled(*BINARY, *RELATIONS, '∉')}|(?:{spelled('not')}\s*)?{_COMPARING})"
)
# an interval such as [0, 3) closes nothing
_BRACKETS = re.compile(
    rf"""(?:{_IN}|∉)\s*[\[(][^()\[\]{{}}"'`]*[\])]|[(){{}}]|{QUOTED}|["'`].*""",
    re.DOTALL,
)
_CLOSING = {"(": ")", "{": "}"}
_NO_OPERAND = (")", "}", ",", "end")


class Condition(NamedTuple):
    """A subscription's text in normal form."""

    alternatives: tuple[tuple[Leaf, ...], ...]
    notes: tuple[tuple[str, int], ...]


class _Frame:
    """A parenthesis, a brace or a text that is still open."""

    __slots__ = ("comma", "ends_with", "factors", "negated", "or_", "signs", "start", "terms")

    def __init__(self, ends_with: str, start: int, negated: bool) -> None:
        self.ends_with = ends_with
        self.start = start
        self.negated = negated
        self.signs = 0
        self.factors: list[Leaf | Branch] = []
        self.terms: list[Leaf | Branch] = []
        self.comma = -1
        self.or_ = -1


class Language:
    """Reads texts; remembers the atoms it has read."""

    def __init__(self, limits: Limits = DEFAULT_LIMITS) -> None:
        self.limits = limits
        self.atoms: dict[str, Atom] = {}
        """By their source text, those of common spellings that were read lately."""
        self._before: dict[str, Atom] = {}
        """Those that were read before."""

    def remembered(self, source: str) -> Atom | None:
        """Returns an atom that was read before, which is remembered longer by that."""
        atom = self.atoms.get(source)
        if atom is None and (atom := self._before.get(source)) is not None:
            self.remember(source, atom)
        return atom

    def remember(self, source: str, atom: Atom) -> None:
        """Remembers an atom; one that nobody has read for long is forgotten."""
        if len(self.atoms) >= _INTERNED:
            self._before, self.atoms = self.atoms, {}
        self.atoms[source] = atom

    def parse(
        self, text: str, look: Callable[[Sequence[Leaf], str], None] = lambda leaves, text: None
    ) -> Condition:
        """Returns the text's alternatives; `SubscriptionError` with the place if it has none.

        `look` sees all leaves and the text before several alternatives are made of them, and may
        refuse them."""
        return _Parse(self, text, look).condition()


def _plain_comparison(matched: re.Match[str]) -> AttributePredicate | None:
    """Reads `name op constant` straight from the groups of the common pattern."""
    attribute, op, number, word, string, within = matched.group(*_COMPARED)
    if within is not None and within.lower() not in RESERVED:
        opening, low, high, closing = matched.group(*_BOUNDED)
        bounds = (_number(low), _number(high))
        return AttributePredicate(within, Comparison(INTERVALS[opening + closing], bounds))
    if attribute is None or attribute.lower() in RESERVED:
        return None
    op = SIGNS[op]
    value: Scalar
    if number is not None:
        value = _number(number)
    elif word is not None:
        if op not in ("=", "!=") or word.lower() in RESERVED:
            return None
        value = word
    else:
        value = string
    return AttributePredicate(attribute, Comparison(op, value))


def _number(digits: str) -> int | float:
    return canonical_number(float(digits)) if "." in digits else int(digits)


class _Parse(AtomReader):
    """One text on its way to its alternatives."""

    def __init__(
        self, language: Language, text: str, look: Callable[[Sequence[Leaf], str], None]
    ) -> None:
        super().__init__(text, language.limits)
        self.look = look
        self.joined = (-1, -1)
        """The start and end of the connective that was taken last."""
        self.leaves: list[Leaf] = []
        self.language = language
        self.branches: list[Branch] = []
        self.notes: list[tuple[str, int]] = []
        self.groups: dict[int, int] | None = None

    def condition(self) -> Condition:
        self._check_text()
        if (plain := self._begin()) is not None:
            return Condition((plain,), ())
        frame = _Frame("", 0, False)
        frame.factors += self.leaves
        stack = [frame]
        root: Leaf | Branch | None = None
        while root is None:
            opened = self._operand(frame)
            if opened is not None:
                stack.append(opened)
                frame = opened
                continue
            while True:
                closed = self._connective(frame)
                if closed is None:
                    break
                stack.pop()
                if not stack:
                    root = closed
                    break
                frame = stack[-1]
                frame.factors.append(closed)
                self._end_operand(frame)
        return Condition(self._expanded(root), tuple(self.notes))

    def _check_text(self) -> None:
        limit = self.limits.text_bytes
        is_long = 4 * len(self.text) > limit  # a letter takes four bytes at most
        if is_long and len(self.text.encode("utf-8", "surrogatepass")) > limit:
            self.fail(f"a subscription has at most {limit:,} bytes of text", 0)
        if "\0" in self.text:
            self.fail("a NUL character means nothing here", self.text.index("\0"))
        if not self.text.strip():
            self.fail("the condition is empty: write a comparison such as altitude < 400", 0)

    # operands

    def _begin(self) -> tuple[Leaf, ...] | None:
        """Takes the plain atoms that the text begins with, as long as ` and ` follows them; returns
        them if they are all of it. What is known ends where it closes what it opened, so that an
        ` and ` behind it is no part of it."""
        place, leaves, language = 0, self.leaves, self.language
        for source in (sources := self.text.split(_AND)):
            atom = language.remembered(source)
            if atom is None:
                matched = _COMMON.match(self.text, place)
                if matched is None or matched.span(_ATOM) != (place, place + len(source)):
                    break
                if (atom := _plain_comparison(matched)) is None:
                    break
                language.remember(source, atom)
            leaves.append(Leaf(atom, False, place))
            place += len(source) + len(_AND)
        else:
            return tuple(leaves) if len(set(sources)) == len(sources) else once(tuple(leaves))
        if leaves:
            self.at = place - 1
            self.joined = place - len(_AND) + 1, self.at
        return None

    def _operand(self, frame: _Frame) -> _Frame | None:
        """Takes what may begin a condition; a new frame when that is a group."""
        while True:
            matched = _COMMON.match(self.text, self.at)
            if matched is not None:
                if self._common(frame, matched):
                    continue
                return None
            token = self.peek()
            if token.kind in _CLOSING and not self._is_arithmetic(token):
                self.take()
                self._deeper(token)
                negated = frame.negated ^ (frame.signs & 1 == 1)
                return _Frame(_CLOSING[token.kind], token.start, negated)
            if token.kind != "not":
                if token.kind in _NO_OPERAND and self.at == self.joined[1]:
                    words = self.text[slice(*self.joined)]
                    self.fail(f"expected a condition after '{words}', found {token}", token)
                self._leaf(frame, self.read(), token.start)
                return None
            self.take()
            frame.signs += 1
            self._deeper(token)

    def _common(self, frame: _Frame, matched: re.Match[str]) -> bool:
        """Takes an atom whose spelling is one of the common ones, and an `and` behind it; whether
        there was one."""
        source, joint = matched.group(_ATOM, _JOINT)
        start = matched.start(_ATOM)
        atom = self.language.remembered(source)
        if atom is None:
            atom = _plain_comparison(matched)
            if atom is None:
                atoms = self.read()
                if self.at != matched.end() or len(atoms) > 1:
                    self._leaf(frame, atoms, start)
                    return False
                atom = atoms[0]
            self.language.remember(source, atom)
        if frame.signs or frame.negated:
            self._leaf(frame, (atom,), start)
        else:
            leaf = Leaf(atom, False, start)
            self.leaves.append(leaf)
            frame.factors.append(leaf)
        kind, value = KINDS[joint.lower()]
        if kind == "and":
            self.joined, self._ahead = matched.span(_JOINT), None
            self.at = self.joined[1]
            return True
        self.at, self._ahead = matched.end(), Token(kind, value, *matched.span(_JOINT))
        return False

    def _deeper(self, place: Token) -> None:
        self.depth += 1
        if self.depth > self.limits.depth:
            self.fail(
                f"parentheses, braces and not are nested at most {self.limits.depth} deep",
                place,
            )

    def _end_operand(self, frame: _Frame) -> None:
        self.depth -= frame.signs
        frame.signs = 0

    def _leaf(self, frame: _Frame, atoms: tuple[Atom, ...], start: int) -> None:
        """Adds an atom, or the or of two, under the sign that holds here."""
        negated = frame.negated ^ (frame.signs & 1 == 1)
        conjunction = stays = False
        if negated and isinstance(atoms[0], OperatorPredicate):
            self._refuse_variables(atoms[0], start)
            stays = True
        elif negated:
            conjunction = len(atoms) > 1
            atoms = tuple(
                complement
                for atom in atoms
                if not isinstance(atom, OperatorPredicate)
                for complement in atom.complement()
            )
        if len(atoms) == 1:
            leaf = Leaf(atoms[0], stays, start)
            self.leaves.append(leaf)
            frame.factors.append(leaf)
        else:
            leaves = [Leaf(atom, stays, start) for atom in atoms]
            self.leaves += leaves
            frame.factors.append(self._branch(conjunction, [*leaves]))
        if frame.signs:
            self._end_operand(frame)

    def _refuse_variables(self, atom: OperatorPredicate, start: int) -> None:
        if atom.variables:
            self.fail(
                f"an operator with the variable ?{atom.variables[0]} cannot be negated: "
                f"negate a constraint on the variable, or leave the variable out",
                start,
            )

    def _is_arithmetic(self, opening: Token) -> bool:
        """Returns whether a parenthesis groups an expression rather than a condition."""
        if self.groups is None:
            self.groups = dict(self._brackets())
        end = self.groups.get(opening.start) if opening.kind == "(" else None
        return end is not None and _AFTER_GROUP.match(self.text, end) is not None

    def _brackets(self) -> Iterator[tuple[int, int]]:
        """Returns every bracket's place and where its partner ends."""
        opened: list[int] = []
        for matched in _BRACKETS.finditer(self.text):
            letter = matched.group()
            if letter in "({":
                opened.append(matched.start())
            elif letter in ")}" and opened:
                yield opened.pop(), matched.end()

    # connectives

    def _connective(self, frame: _Frame) -> Leaf | Branch | None:
        """Takes what follows an operand: `None` to go on in the frame, or the closed frame."""
        token = self.take()
        self.joined = token.start, token.end
        if token.kind in (")", "}"):
            return self._closed(frame, token)
        if token.kind == "end":
            if frame.ends_with:
                self.fail(f"this '{self.text[frame.start]}' is never closed", frame.start)
            return self._combined(frame)
        if token.kind == "or":
            frame.or_ = token.start if frame.or_ < 0 else frame.or_
            frame.terms.append(self._conjunction(frame))
        elif token.kind == ",":
            frame.comma = token.start if frame.comma < 0 else frame.comma
        elif token.kind != "and":
            self._no_connective(frame, token)
        if frame.comma >= 0 and frame.or_ >= 0:
            self._show_both_readings(frame)
        return None

    def _no_connective(self, frame: _Frame, token: Token) -> NoReturn:
        last = frame.factors[-1]
        if isinstance(last, Leaf) and isinstance(last.atom, OperatorPredicate):
            name = name_text(last.atom.name)
            if token.kind in SIGNS and token.kind not in ("(", "{", "["):
                self.fail(
                    f"an operator predicate is true or false: bind its answer to a variable, "
                    f"as in {name}(?x), and compare ?x",
                    token.start,
                )
        hint = ""
        if token.kind == "name" and self.text[: token.start].rstrip()[-1:].isdigit():
            unit = nearest(str(token.value), UNITS)
            hint = "" if unit is None else f"; a unit is glued to its number, such as 5{unit}"
        self.fail(f"expected and, or, ',' or the end, found {token}{hint}", token.start)

    def _closed(self, frame: _Frame, token: Token) -> Leaf | Branch:
        letter, place = token.kind, token.start
        if letter != frame.ends_with:
            if self._is_lost_parenthesis(frame, place):
                self.notes.append(("this ')' has no '(' and is left out", place))
                self.take()
            elif frame.ends_with:
                self.fail(f"expected '{frame.ends_with}' here, found '{letter}'", place)
            else:
                self.fail(f"this '{letter}' was never opened", place)
        self.depth -= 1
        return self._combined(frame)

    def _is_lost_parenthesis(self, frame: _Frame, place: int) -> bool:
        """Recognizes a misprint of the paper's S3: `{…, ?ped>250)}` lacks its '('."""
        last = frame.factors[-1]
        return (
            frame.ends_with == "}"
            and isinstance(last, Leaf)
            and isinstance(last.atom, Constraint)
            and bool(last.atom.variables)
            and self.text[place + 1 :].lstrip()[:1] == "}"
        )

    def _show_both_readings(self, frame: _Frame) -> NoReturn:
        first, second = sorted((frame.comma, frame.or_))
        begin = frame.start + 1 if frame.ends_with else 0
        end = self._level_end(second)
        parts = [self.text[begin:first], self.text[first + 1 : second], self.text[second + 1 : end]]
        if frame.or_ == first:
            parts[1] = self._without_or(self.text[first:second])
        else:
            parts[2] = self._without_or(self.text[second:end])
        left, middle, right = (shortened(" ".join(part.split()), _SHOWN) for part in parts)
        if frame.comma < frame.or_:
            readings = f"({left}, {middle}) or {right}", f"{left}, ({middle} or {right})"
        else:
            readings = f"{left} or ({middle}, {right})", f"({left} or {middle}), {right}"
        self.fail(
            f"a ',' and an 'or' at one level: write {readings[0]} or write {readings[1]}", second
        )

    @staticmethod
    def _without_or(words: str) -> str:
        return re.sub(r"^(?:or\b|\|\||∨)", "", words, flags=re.IGNORECASE)

    def _level_end(self, start: int) -> int:
        """Returns where the level of this place ends."""
        depth = 0
        for matched in _BRACKETS.finditer(self.text, start):
            letter = matched.group()
            depth += (letter in "({") - (letter in ")}")
            if depth < 0:
                return matched.start()
        return len(self.text)

    def _conjunction(self, frame: _Frame) -> Leaf | Branch:
        factors, frame.factors = frame.factors, []
        return factors[0] if len(factors) == 1 else self._branch(not frame.negated, factors)

    def _combined(self, frame: _Frame) -> Leaf | Branch:
        last = self._conjunction(frame)
        if not frame.terms:
            return last
        return self._branch(frame.negated, [*frame.terms, last])

    # alternatives

    def _branch(self, conjunction: bool, parts: list[Leaf | Branch]) -> Branch:
        branch = Branch(conjunction, parts)
        self.branches.append(branch)
        return branch

    def _expanded(self, root: Leaf | Branch) -> tuple[tuple[Leaf, ...], ...]:
        """Returns the alternatives, in the order in which they are written, each once."""
        if isinstance(root, Leaf):
            return ((root,),)
        most = self.limits.alternatives
        if self._is_fewer_clauses(root):
            clauses = expanded(root, self.branches, self.leaves, clauses=True)
            return (tuple(map(_clause, clauses)),)
        if root.alternatives > most:
            count = root.alternatives
            shown = f"{count:,}" if count < 10**12 else "more than 10^12"
            self.fail(
                f"this condition has {shown} alternatives when every or is written out; "
                f"at most {most:,} are taken",
                0,
            )
        if root.alternatives > 1:
            self.look(self.leaves, self.text)
        return expanded(root, self.branches, self.leaves)

    def _is_fewer_clauses(self, root: Branch) -> bool:
        """Returns whether it is a condition on attributes that its clauses say in less.

        A single clause says no less than its alternatives, which are a predicate each."""
        most = self.limits.alternatives
        return (
            root.clauses <= most
            and root.alternatives > max(min(_FEW, most), root.clauses)
            and (root.clauses > 1 or root.alternatives > most)
            and all(map(_is_on_attribute, self.leaves))
        )


def _is_on_attribute(leaf: Leaf) -> bool:
    return type(leaf.atom) is AttributePredicate


def _clause(leaves: tuple[Leaf, ...]) -> Leaf:
    """Returns a clause as a leaf of its own."""
    if len(leaves) == 1:
        return leaves[0]
    parts = [leaf.atom for leaf in leaves if isinstance(leaf.atom, AttributePredicate)]
    return Leaf(Disjunction.of(tuple(parts)), False, leaves[0].start)
