"""What a subscription's text means: its alternatives, each a conjunction of atoms.

One pass with a stack of its own reads connectives; `not` is a prefix, so the sign under which an
atom stands is known when it is read, and negations are pushed down as they come. Alternatives are
counted before any is expanded. Atoms are interned by their source text: a text made of known atoms
costs one pattern match and one look-up an atom.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, NoReturn

from tamis.errors import SubscriptionError
from tamis.language.atoms import AtomReader
from tamis.language.comparison import INTERVALS, Comparison
from tamis.language.constraint import Constraint
from tamis.language.normal import Branch, Leaf, expanded
from tamis.language.predicate import Atom, AttributePredicate, OperatorPredicate
from tamis.language.scanner import SYMBOLS, Scanner, skip_space
from tamis.language.text import NAME, RESERVED, WORD, name_text
from tamis.language.units import UNITS
from tamis.language.values import Scalar, canonical_number
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.nearest import nearest

_INTERNED = 100_000
_CONNECTIVE = re.compile(
    r"\s*(?:(?P<close>[)}])|(?P<comma>,)|(?P<and>and(?![\w.])|∧|&&)|(?P<or>or(?![\w.])|∨|\|\|)|(?P<end>$))",
    re.IGNORECASE,
)
_OPENING = re.compile(r"\s*(?:(?P<not>not(?![\w.])|¬|!(?!=))|(?P<group>[({]))", re.IGNORECASE)
_NUMBER = r"-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,17})?"
_COMMON = re.compile(
    rf"""
    (?: (?!(?:[nN][oO][tT]|[aA][nN][dD]|[oO][rR])(?![\w.])) {NAME}\s*\([^()"'`{{}}]*\)
      | (?P<attribute>{NAME})\s*(?P<op><=|>=|<>|!=|==|=|<|>|≠|≤|≥)\s*
        (?: (?P<number>{_NUMBER}) | (?P<word>{NAME}) | "(?P<string>[^"\\]*)" )
      | \?{WORD}\s*(?:<=|>=|<>|!=|==|=|<|>|≠|≤|≥)\s*{_NUMBER}
      | {NAME}\s*(?:\bin\b|∈)\s*\{{[^{{}}"'`]*\}}
      | (?P<within>{NAME})\s*(?:\bin\b|∈)\s*(?P<opening>[\[(])\s*(?P<low>{_NUMBER})\s*,
        \s*(?P<high>{_NUMBER})\s*(?P<closing>[\])])
    )
    (?=\s*(?:$|[,)}}∧∨]|&&|\|\||(?:[aA][nN][dD]|[oO][rR])\b))
    """,
    re.VERBOSE,
)
_AFTER_GROUP = re.compile(
    r"\s*(?:[-+*/=<>≠≤≥∈∉]|!=|(?:not|in|between|starts|ends|contains|matches|has)\b)",
    re.IGNORECASE,
)
# an interval such as [0, 3) closes nothing
_BRACKETS = re.compile(
    r"""(?:\bin|[∈∉])\s*[\[(][^()\[\]{}"'`]*[\])]"""
    r"""|[(){}]|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`|["'`].*""",
    re.DOTALL | re.IGNORECASE,
)
_CLOSING = {"(": ")", "{": "}"}


class Condition(NamedTuple):
    """A subscription's text in normal form."""

    alternatives: tuple[tuple[Leaf, ...], ...]
    notes: tuple[tuple[str, int], ...]


class _Frame:
    """What is open: a parenthesis, a brace, or the whole text."""

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
        self._atoms: dict[str, Atom] = {}

    def parse(
        self, text: str, look: Callable[[Sequence[Leaf], bool], None] = lambda leaves, several: None
    ) -> Condition:
        """The text's alternatives; `SubscriptionError` with the place if it has none.

        `look` sees all leaves, and whether several alternatives are about to be made of them, and
        may refuse them."""
        return _Parse(self, text, look).condition()

    def common_atom(self, text: str, start: int) -> tuple[Atom, int] | None:
        """The atom at a place and its end, where its spelling is one of the common ones."""
        matched = _COMMON.match(text, start)
        if matched is None:
            return None
        source = matched.group()
        atom = self._atoms.get(source)
        if atom is None:
            atom = _plain_comparison(matched)
            if atom is None:
                reader = AtomReader(text, self.limits, start)
                atoms = reader.read()
                if len(atoms) != 1 or reader.at != matched.end():
                    return None
                atom = atoms[0]
            if len(self._atoms) >= _INTERNED:
                self._atoms.clear()
            self._atoms[source] = atom
        return atom, matched.end()


def _plain_comparison(matched: re.Match[str]) -> Atom | None:
    """`name op constant` straight from the groups of the common pattern."""
    attribute, op, number, word, string, within = matched.group(
        "attribute", "op", "number", "word", "string", "within"
    )
    if within is not None and within.lower() not in RESERVED:
        opening, low, high, closing = matched.group("opening", "low", "high", "closing")
        bounds = (_number(low), _number(high))
        return AttributePredicate(within, Comparison(INTERVALS[opening + closing], bounds))
    if attribute is None or attribute.lower() in RESERVED:
        return None
    op = SYMBOLS.get(op, op)
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


class _Parse:
    """One text on its way to its alternatives."""

    def __init__(
        self, language: Language, text: str, look: Callable[[Sequence[Leaf], bool], None]
    ) -> None:
        self.look = look
        self.leaves: list[Leaf] = []
        self.language = language
        self.limits = language.limits
        self.text = text
        self.at = 0
        self.depth = 0
        self.branches: list[Branch] = []
        self.notes: list[tuple[str, int]] = []
        self.groups: dict[int, int] | None = None

    def condition(self) -> Condition:
        self._check_size()
        frame = _Frame("", 0, False)
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

    def _check_size(self) -> None:
        limit = self.limits.text_bytes
        if len(self.text) > limit or len(self.text.encode("utf-8", "surrogatepass")) > limit:
            self._fail(f"a subscription has at most {limit:,} bytes of text", 0)
        if "\0" in self.text:
            self._fail("a NUL character means nothing here", self.text.index("\0"))
        if not self.text.strip():
            self._fail("the condition is empty: write a comparison such as altitude < 400", 0)

    def _fail(self, problem: str, position: int) -> NoReturn:
        raise SubscriptionError(problem, text=self.text, position=position)

    # operands

    def _operand(self, frame: _Frame) -> _Frame | None:
        """Takes what may begin a condition; a new frame when that is a group."""
        text = self.text
        while True:
            start = skip_space(text, self.at)
            found = self.language.common_atom(text, start)
            if found is not None:
                atom, self.at = found
                self._leaf(frame, (atom,), start)
                return None
            opening = _OPENING.match(text, self.at)
            if opening is None:
                break
            start = opening.end() - 1
            if opening.lastgroup == "group":
                if text[start] == "(" and self._is_arithmetic(start):
                    break
                self.at = opening.end()
                self._deeper(start)
                negated = frame.negated ^ (frame.signs & 1 == 1)
                return _Frame(_CLOSING[text[start]], start, negated)
            self.at = opening.end()
            frame.signs += 1
            self._deeper(opening.start("not"))
        reader = AtomReader(text, self.limits, self.at, self.depth)
        start = reader.peek().start
        atoms = reader.read()
        self.at = reader.at
        self._leaf(frame, atoms, start)
        return None

    def _deeper(self, position: int) -> None:
        self.depth += 1
        if self.depth > self.limits.depth:
            self._fail(
                f"parentheses, braces and not are nested at most {self.limits.depth} deep",
                position,
            )

    def _end_operand(self, frame: _Frame) -> None:
        self.depth -= frame.signs
        frame.signs = 0

    def _leaf(self, frame: _Frame, atoms: tuple[Atom, ...], start: int) -> None:
        """Adds an atom, or the or of two, under the sign that holds here."""
        negated = frame.negated ^ (frame.signs & 1 == 1)
        conjunction = False
        if not negated and len(atoms) == 1:
            leaf = Leaf(atoms[0], False, start)
            self.leaves.append(leaf)
            frame.factors.append(leaf)
            self._end_operand(frame)
            return
        if negated:
            if isinstance(atoms[0], OperatorPredicate):
                self._refuse_variables(atoms[0], start)
            else:
                atoms, conjunction = self._complement(atoms)
        leaves = [
            Leaf(atom, negated and isinstance(atom, OperatorPredicate), start) for atom in atoms
        ]
        self.leaves.extend(leaves)
        frame.factors.append(
            leaves[0] if len(leaves) == 1 else self._branch(conjunction, list(leaves))
        )
        self._end_operand(frame)

    def _complement(self, atoms: tuple[Atom, ...]) -> tuple[tuple[Atom, ...], bool]:
        """The atoms of the complement, and whether they all hold together."""
        complements: list[Atom] = []
        for atom in atoms:
            assert not isinstance(atom, OperatorPredicate)
            if isinstance(atom, Constraint):
                complements.extend(atom.complement())
            else:
                complements.extend(
                    AttributePredicate(atom.attribute, comparison)
                    for comparison in atom.comparison.complement()
                )
        return tuple(complements), len(atoms) > 1

    def _refuse_variables(self, atom: OperatorPredicate, start: int) -> None:
        if atom.variables:
            self._fail(
                f"not of an operator with the variable ?{atom.variables[0]}: "
                f"negate a constraint on the variable, or leave the variable out",
                start,
            )

    def _is_arithmetic(self, start: int) -> bool:
        """Whether the parenthesis here groups an expression rather than a condition."""
        if self.groups is None:
            self.groups = dict(self._brackets())
        end = self.groups.get(start)
        return end is not None and _AFTER_GROUP.match(self.text, end) is not None

    def _brackets(self) -> Iterator[tuple[int, int]]:
        """Every bracket's place and where its partner ends."""
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
        matched = _CONNECTIVE.match(self.text, self.at)
        if matched is None:
            self._no_connective(frame)
        kind = matched.lastgroup
        place = matched.start(kind) if kind is not None else self.at
        if kind == "close":
            return self._close(frame, matched, place)
        if kind == "end":
            if frame.ends_with:
                self._fail(f"this '{self.text[frame.start]}' is never closed", frame.start)
            self.at = matched.end()
            return self._combined(frame)
        self.at = matched.end()
        if kind == "or":
            frame.or_ = place if frame.or_ < 0 else frame.or_
            frame.terms.append(self._conjunction(frame))
        elif kind == "comma":
            frame.comma = place if frame.comma < 0 else frame.comma
        if frame.comma >= 0 and frame.or_ >= 0:
            self._show_both_readings(frame)
        following = skip_space(self.text, self.at)
        if following == len(self.text) or self.text[following] in ")},":
            word = "the end" if following == len(self.text) else f"'{self.text[following]}'"
            self._fail(
                f"expected a condition after '{matched.group().strip()}', found {word}", following
            )
        return None

    def _no_connective(self, frame: _Frame) -> NoReturn:
        token = Scanner(self.text, self.limits, self.at).peek()
        last = frame.factors[-1]
        if isinstance(last, Leaf) and isinstance(last.atom, OperatorPredicate):
            name = name_text(last.atom.name)
            if token.kind == "symbol" and token.value not in ("(", "{", "["):
                self._fail(
                    f"an operator predicate is true or false: bind its answer to a variable, "
                    f"as in {name}(?x), and compare ?x",
                    token.start,
                )
        hint = ""
        if token.kind == "name" and self.text[: token.start].rstrip()[-1:].isdigit():
            unit = nearest(str(token.value), UNITS)
            hint = "" if unit is None else f"; a unit is glued to its number, such as 5{unit}"
        self._fail(f"expected and, or, ',' or the end, found {token}{hint}", token.start)

    def _close(self, frame: _Frame, matched: re.Match[str], place: int) -> Leaf | Branch:
        letter = self.text[place]
        if letter != frame.ends_with:
            if self._is_lost_parenthesis(frame, place):
                self.notes.append(("this ')' has no '(' and is left out", place))
                self.at = self.text.index("}", place) + 1
                self.depth -= 1
                return self._combined(frame)
            if frame.ends_with:
                self._fail(f"expected '{frame.ends_with}' here, found '{letter}'", place)
            self._fail(f"this '{letter}' was never opened", place)
        self.at = matched.end()
        self.depth -= 1
        return self._combined(frame)

    def _is_lost_parenthesis(self, frame: _Frame, place: int) -> bool:
        """The misprint of the paper's S3: `{…, ?ped>250)}`, a constraint without its '('."""
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
        left, middle, right = (_shortened(part) for part in parts)
        if frame.comma < frame.or_:
            readings = f"({left}, {middle}) or {right}", f"{left}, ({middle} or {right})"
        else:
            readings = f"{left} or ({middle}, {right})", f"({left} or {middle}), {right}"
        self._fail(
            f"a ',' and an 'or' at one level: write {readings[0]} or write {readings[1]}", second
        )

    @staticmethod
    def _without_or(words: str) -> str:
        return re.sub(r"^(?:or\b|\|\||∨)", "", words, flags=re.IGNORECASE)

    def _level_end(self, start: int) -> int:
        """Where the level ends that this place is on."""
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
        """The alternatives, in the order in which they are written, each once."""
        if isinstance(root, Leaf):
            return ((root,),)
        if root.alternatives > self.limits.alternatives:
            count = root.alternatives
            shown = f"{count:,}" if count < 10**12 else "more than 10^12"
            self._fail(
                f"this condition has {shown} alternatives when every or is written out; "
                f"at most {self.limits.alternatives:,} are taken",
                0,
            )
        self.look(self.leaves, root.alternatives > 1)
        return expanded(root, self.branches, self.leaves)


def _shortened(words: str, length: int = 40) -> str:
    words = " ".join(words.split())
    return words if len(words) <= length else words[: length - 1] + "…"
