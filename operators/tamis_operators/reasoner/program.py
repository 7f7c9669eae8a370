"""Reads rules of one's own: Datalog with negation, arithmetic and comparisons, as clingo spells it.

    speeding(D) :- drives(D, V), speed(V, S), limit(L), S > L, not exempt(D).

A program is refused, with file and line, unless every variable is bound by what holds in the body
and no predicate depends on its own negation. Cost: linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn

_TOKENS = re.compile(
    r"""(?P<space>\s+|%[^\n]*)
      | (?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
      | (?P<string>"(?:[^"\\\n]|\\["\\n])*")
      | (?P<name>[a-z][A-Za-z0-9_]*)
      | (?P<variable>[A-Z_][A-Za-z0-9_]*)
      | (?P<sign>:-|==|!=|<=|>=|[=<>(),.+\-*/])""",
    re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(.)")
_COMPARED = ("==", "!=", "<=", ">=", "=", "<", ">")
_DEEPEST = 50
_MOST_PARTS = 100
_LONGEST = 1 << 20


class RulesError(ValueError):
    """Rules that cannot be read, or that are refused."""


class RuleVariable(NamedTuple):
    """A variable of a rule."""

    name: str


class Sum(NamedTuple):
    """Arithmetic: an operator and what it takes."""

    sign: str
    terms: tuple[Any, ...]


Term = Any
"""A value, a `RuleVariable`, or a `Sum`."""
Key = tuple[str, int]
"""A predicate: its name and how many places it has."""


class Atom(NamedTuple):
    """A predicate of some terms."""

    name: str
    terms: tuple[Term, ...]

    @property
    def key(self) -> Key:
        """Its predicate."""
        return self.name, len(self.terms)


class RuleComparison(NamedTuple):
    """Two terms compared."""

    sign: str
    left: Term
    right: Term


@dataclass(frozen=True)
class ProgramRule:
    """A head that holds wherever its body does."""

    head: Atom
    positive: tuple[Atom, ...] = ()
    negative: tuple[Atom, ...] = ()
    comparisons: tuple[RuleComparison, ...] = ()
    place: str = ""


@dataclass(frozen=True)
class Program:
    """Rules, in strata: each needs only what those before it, and itself, derive."""

    strata: tuple[tuple[ProgramRule, ...], ...]
    heads: frozenset[Key]
    used: dict[Key, str] = field(hash=False)
    """The predicates of bodies and heads, each with a place where it stands."""


class RuleTruth(NamedTuple):
    """A boolean, which is no number."""

    value: bool


def encoded(value: Any) -> Any:
    """Returns a scalar as a value of rules: booleans are none of 0 and 1."""
    return RuleTruth(value) if type(value) is bool else value


def decoded(value: Any) -> Any:
    """Returns a value of rules as a scalar."""
    if isinstance(value, RuleTruth):
        return value.value
    return str(value) if isinstance(value, _Name) else value


def program_of(texts: Iterable[tuple[str, str]]) -> Program:
    """Returns the program of some named texts; `RulesError` says what is wrong and where."""
    rules = [rule for text, what in texts for rule in _ProgramReader(text, what).rules()]
    for rule in rules:
        _check_bound(rule)
    heads = frozenset(rule.head.key for rule in rules)
    used: dict[Key, str] = {}
    for rule in rules:
        for atom in (rule.head, *rule.positive, *rule.negative):
            used.setdefault(atom.key, rule.place)
    return Program(tuple(_strata(rules, heads)), heads, used)


class _ProgramReader:
    """Reads one text, a token ahead."""

    def __init__(self, text: str, what: str) -> None:
        self._what = what
        self._line = 1
        self._anonymous = 0
        self._depth = 0
        if len(text) > _LONGEST:
            raise RulesError(f"{what} has more than {_LONGEST:,} letters")
        self._tokens = self._split(text)
        self._next()

    def rules(self) -> Iterator[ProgramRule]:
        while self._kind:
            yield self._rule()

    def _split(self, text: str) -> Iterator[tuple[str, str]]:
        at = 0
        while at < len(text):
            found = _TOKENS.match(text, at)
            if found is None:
                self._fail(f"{text[at : at + 10]!r} cannot be read")
            assert found.lastgroup is not None
            if found.lastgroup != "space":
                yield found.lastgroup, found[0]
            self._line += found[0].count("\n")
            at = found.end()

    def _next(self) -> str:
        """Takes the token that is next, and reads the one after it."""
        taken = getattr(self, "_token", "")
        self._kind, self._token = next(self._tokens, ("", ""))
        return taken

    def _fail(self, problem: str) -> NoReturn:
        raise RulesError(f"{self._what}, line {self._line}: {problem}")

    def _take(self, sign: str) -> None:
        if self._token != sign:
            self._fail(f"{sign!r} is expected, not {self._token or 'the end'!r}")
        self._next()

    def _rule(self) -> ProgramRule:
        place = f"{self._what}, line {self._line}"
        head = self._atom()
        positive: list[Atom] = []
        negative: list[Atom] = []
        comparisons: list[RuleComparison] = []
        if self._token == ":-":
            while self._token in (":-", ","):
                self._next()
                if self._token == "not":
                    self._next()
                    negative.append(self._plain(self._atom(), comparisons))
                    continue
                left = self._sum()
                if isinstance(left, _Name) and self._token in (",", "."):
                    left = Atom(left, ())
                if self._token in _COMPARED:
                    comparisons.append(RuleComparison(self._next(), left, self._sum()))
                elif isinstance(left, Atom):
                    positive.append(self._plain(left, comparisons))
                else:
                    self._fail("a predicate or a comparison is expected")
        self._take(".")
        if len(positive) + len(negative) + len(comparisons) > _MOST_PARTS:
            self._fail(f"a body has at most {_MOST_PARTS} parts")
        _refuse_atoms(comparisons, self._fail)
        return ProgramRule(head, tuple(positive), tuple(negative), tuple(comparisons), place)

    def _plain(self, atom: Atom, comparisons: list[RuleComparison]) -> Atom:
        """Returns the atom with variables for arithmetic, which is compared with them."""
        terms = list(atom.terms)
        for place, term in enumerate(terms):
            if isinstance(term, Sum):
                terms[place] = self._new_variable()
                comparisons.append(RuleComparison("=", terms[place], term))
        return Atom(atom.name, tuple(terms))

    def _new_variable(self) -> RuleVariable:
        self._anonymous += 1
        return RuleVariable(f"_{self._anonymous}")

    def _atom(self) -> Atom:
        found = self._primary() if self._kind == "name" else None
        if isinstance(found, str):
            return Atom(found, ())
        if not isinstance(found, Atom):
            self._fail(f"the name of a predicate is expected, not {self._token or 'the end'!r}")
        return found

    def _sum(self) -> Term:
        return self._chain(("+", "-"), lambda: self._chain(("*", "/"), self._primary))

    def _chain(self, signs: Sequence[str], part: Any) -> Term:
        left, count = part(), 0
        while self._token in signs:
            left, count = Sum(self._next(), (left, part())), count + 1
            if count > _DEEPEST:
                self._fail(f"arithmetic has at most {_DEEPEST} terms in a row")
        return left

    def _primary(self) -> Term:
        self._depth += 1
        if self._depth > _DEEPEST:
            self._fail("terms are nested too deep")
        kind, token = self._kind, self._next()
        found = self._term(kind, token)
        self._depth -= 1
        return found

    def _term(self, kind: str, token: str) -> Term:
        if kind == "number":
            return float(token) if set(token) & set(".eE") else _integer(token, self._fail)
        if kind == "string":
            return _ESCAPE.sub(lambda each: "\n" if each[1] == "n" else each[1], token[1:-1])
        if kind == "variable":
            return self._new_variable() if token == "_" else RuleVariable(token)
        if token == "-":
            return Sum("-", (0, self._primary()))
        if token == "(":
            found = self._sum()
            self._take(")")
            return found
        if kind != "name" or token == "not":
            self._fail(f"a term is expected, not {token or 'the end'!r}")
        if self._token != "(":
            return RuleTruth(token == "true") if token in ("true", "false") else _Name(token)
        terms = []
        while self._token in ("(", ","):
            self._next()
            terms.append(self._sum())
        self._take(")")
        _refuse_atoms(terms, self._fail)
        return Atom(token, tuple(terms))


class _Name(str):
    """A bare name: the string of its letters, or a predicate without places."""

    __slots__ = ()


def _integer(token: str, fail: Any) -> int:
    if len(token) > 1_000:
        fail("a number has at most 1,000 digits")
    return int(token)


def _refuse_atoms(terms: Iterable[Any], fail: Any) -> None:
    """Predicates within terms."""
    for each in terms:
        if isinstance(each, Atom):
            fail(f"{each.name}(…) stands where a value is expected")
        if isinstance(each, (Sum, RuleComparison)):
            _refuse_atoms(each.terms if isinstance(each, Sum) else each[1:], fail)


def variables_in(term: Term) -> set[RuleVariable]:
    """Returns the variables of a term."""
    if isinstance(term, Sum):
        return {each for part in term.terms for each in variables_in(part)}
    return {term} if isinstance(term, RuleVariable) else set()


def assigned(
    comparison: RuleComparison, bound: set[RuleVariable]
) -> tuple[RuleVariable, Term] | None:
    """Returns the variable that an equation binds, and to what, where the others are bound."""
    if comparison.sign in ("=", "=="):
        for one, other in ((1, 2), (2, 1)):
            name: Term = comparison[one]
            term: Term = comparison[other]
            if isinstance(name, RuleVariable) and name not in bound and variables_in(term) <= bound:
                return name, term
    return None


def _check_bound(rule: ProgramRule) -> None:
    bound = {each for atom in rule.positive for term in atom.terms for each in variables_in(term)}
    waiting = list(rule.comparisons)
    while found := next((e for c in waiting if (e := assigned(c, bound))), None):
        bound.add(found[0])
    parts = [*rule.head.terms, *(term for atom in rule.negative for term in atom.terms)]
    parts += [term for each in waiting for term in each[1:]]
    for term in parts:
        for variable in sorted(variables_in(term) - bound):
            name = "_" if variable.name.startswith("_") else variable.name
            raise RulesError(f"{rule.place}: no positive predicate of the body binds {name}")


def _strata(
    rules: Sequence[ProgramRule], heads: frozenset[Key]
) -> Iterator[tuple[ProgramRule, ...]]:
    """Rules by the height of their heads: above what they negate, not below what they use."""
    height = dict.fromkeys(heads, 0)
    changed = True
    while changed:
        changed = False
        for rule in rules:
            least = [height[a.key] for a in rule.positive if a.key in heads]
            least += [height[a.key] + 1 for a in rule.negative if a.key in heads]
            if max(least, default=0) > height[rule.head.key]:
                height[rule.head.key] = max(least)
                changed = True
                if height[rule.head.key] > len(heads):
                    name = rule.head.name
                    raise RulesError(f"{rule.place}: {name} depends on its own negation")
    for level in sorted(set(height.values())):
        yield tuple(rule for rule in rules if height[rule.head.key] == level)
