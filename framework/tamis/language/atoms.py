"""Reads one atom of a condition: an attribute predicate, an operator predicate, a constraint.

Reads from a place in the text to the end of the atom. Linear; no recursion, whatever the nesting.
"""

from __future__ import annotations

from typing import NoReturn

from tamis.language.comparison import (
    INTERVALS,
    MIRRORED,
    ORDERINGS,
    RELATIONS,
    Comparison,
    searcher,
)
from tamis.language.constraint import (
    ADD,
    DIVIDE,
    MULTIPLY,
    NEGATION,
    SUBTRACT,
    AttributeReference,
    ConstantTerm,
    Constraint,
    Expression,
    Operation,
    Step,
)
from tamis.language.predicate import (
    Argument,
    Atom,
    AttributePredicate,
    OperatorPredicate,
    VariableArgument,
)
from tamis.language.scanner import SEPARATORS, SIGNS, TERMS, Scanner, Token
from tamis.language.text import RESERVED, constant_text, name_text
from tamis.language.units import UNITS
from tamis.language.values import KIND_NAMES, NUMBER, Scalar, distinct, kind_of
from tamis.limits import Limits
from tamis.words import a

BINARY: dict[str, tuple[int, Operation]] = {
    "+": (1, ADD),
    "-": (1, SUBTRACT),
    "*": (2, MULTIPLY),
    "/": (2, DIVIDE),
}
_NEGATION_STRENGTH = 3
_OPEN = (0, NEGATION)
_SHAPES = (
    "expected a condition: an operator such as locIn(Bronx), or a comparison such as altitude < 400"
)
_NULL = "null is an absent value: write exists(…) or not exists(…)"


class Side:
    """One side of a comparison, with what its spelling leaves open."""

    def __init__(self, steps: list[Step], bare: list[Token], start: Token) -> None:
        self.expression = Expression(tuple(steps)).folded()
        self.bare = bare
        self.start = start

    @property
    def constant(self) -> Scalar | None:
        """Its value, if it is a constant."""
        lone = self.expression.lone
        return lone.value if isinstance(lone, ConstantTerm) else None

    def as_string(self) -> Side:
        """Returns the side with a lone bare name as the string of its letters."""
        if self.bare and self.expression.lone is not None:
            return Side([ConstantTerm(self.bare[0].value)], [], self.start)
        return self


class AtomReader(Scanner):
    """Reads one atom at a time; `depth` is how deep it stands."""

    def __init__(self, text: str, limits: Limits) -> None:
        super().__init__(text, limits)
        self.depth = 0
        self._terms = self._signs = 0

    def read(self) -> tuple[Atom, ...]:
        """Returns the atom here, as one or (for `not between` and its kin) the or of two."""
        self._terms = self._signs = 0
        token = self.take()
        if token.kind == "exists":
            return (self._exists(),)
        if token.kind == "name" and self.peek().kind == "(":
            return (self._operator(token),)
        if token.kind not in (*TERMS, "-", "+", "("):
            self.fail(f"{_SHAPES}, found {token}", token)
        return self._compared(self._side(token))

    # operators

    def _exists(self) -> Atom:
        self.expect("(", "after exists")
        token = self.take()
        if token.kind not in ("name", "attribute"):
            self.fail(f"exists takes the name of an attribute, found {token}", token)
        self.expect(")", "after the attribute")
        return AttributePredicate(str(token.value), Comparison("exists"))

    def _operator(self, name: Token) -> Atom:
        arguments: list[Argument] = []
        offsets: list[int] = []
        self.expect("(", "after the operator")
        while not self.found(")"):
            if arguments:
                self.expect(",", "or ')' after an argument")
            offsets.append(self.peek().start - name.start)
            arguments.append(self._argument(name))
            if len(arguments) > self.limits.terms:
                self.fail(f"an operator takes at most {self.limits.terms:,} arguments", name)
        return OperatorPredicate(str(name.value), tuple(arguments), tuple(offsets))

    def _argument(self, name: Token) -> Argument:
        token = self.peek()
        if token.kind == "variable":
            self.take()
            return VariableArgument(str(token.value))
        if token.kind == "attribute":
            self.fail(
                "an operator takes constants and variables; it reads attributes from the event",
                token,
            )
        value, _ = self._constant(f"as an argument of {name.value}")
        following = self.peek()
        if following.kind == "(":
            self.fail("an operator is not an argument of another", token)
        if following.kind in SIGNS and following.kind not in (",", ")"):
            self.fail("an argument is one value: write arithmetic in a constraint", following)
        return value

    # constants

    def _constant(self, why: str) -> tuple[Scalar, str | None]:
        """Returns a constant and its dimension; a bare name is the string of its letters."""
        token = self.take()
        if token.kind in ("-", "+"):
            number = self.take()
            if number.kind != "number":
                self.fail(f"expected a number after '{token.value}', found {number}", number)
            assert isinstance(number.value, (int, float))
            value = -number.value if token.kind == "-" else number.value
            return value, number.dimension
        if token.kind in ("number", "string", "boolean", "name"):
            self._no_loose_unit(token)
            return token.value, token.dimension
        if token.kind == "null":
            self.fail(_NULL, token)
        if token.kind in RESERVED:
            self.fail(f"'{token.value}' is a keyword: write \"{token.value}\" as a string", token)
        if token.kind == "attribute":
            self.fail("expected a constant: an attribute stands only in a comparison", token)
        if token.kind == "variable":
            self.fail(f"expected a constant {why}, found the variable ?{token.value}", token)
        self.fail(f"expected a constant {why}, found {token}", token)

    def _no_loose_unit(self, number: Token) -> None:
        following = self.peek()
        if number.kind == "number" and following.kind == "name" and following.value in UNITS:
            digits = self.text[number.start : number.end]
            self.fail(f"a unit is glued to its number: write {digits}{following.value}", following)

    def _members(self, opening: Token) -> tuple[Scalar, ...]:
        """Returns the constants of a set whose brace is taken."""
        limit = self.limits.set_members
        values: list[Scalar] = []
        dimensions: set[str] = set()
        if self.text.count(",", self.at) >= limit:
            self._refuse_large_set(opening)
        while not self.found("}"):
            if values:
                self.expect(",", "or '}' after a member of the set")
            values.append(self._measured("in the set", dimensions))
        if not values:
            self.fail("a set has at least one member", opening)
        return distinct(values)

    def _refuse_large_set(self, opening: Token) -> None:
        """Counts members before any is kept, to fail fast."""
        members, limit = 1, self.limits.set_members
        for matched in SEPARATORS.finditer(self.text, self.at):
            if matched.group() == "}":
                break
            members += matched.group() == ","
            if members > limit:
                self.fail(f"a set has at most {limit:,} members", opening)

    def _measured(self, why: str, seen: set[str]) -> Scalar:
        """Returns a constant of the one dimension that all have that have any."""
        token = self.peek()
        value, dimension = self._constant(why)
        if dimension is not None:
            seen.add(dimension)
        if len(seen) > 1:
            self.fail(f"a {' and a '.join(sorted(seen))} cannot be compared with one value", token)
        return value

    # arithmetic

    def _side(self, start: Token) -> Side:
        """Reads an expression by precedence climbing with its own stack; `start` is taken."""
        steps: list[Step] = []
        bare: list[Token] = []
        pending: list[tuple[int, Operation, Token]] = []
        depth = 0
        token = start
        while True:
            if token.kind == "(":
                depth += 1
                pending.append((*_OPEN, token))
            elif token.kind in ("-", "+"):
                self._signs += 1
                if token.kind == "-":
                    pending.append((_NEGATION_STRENGTH, NEGATION, token))
            else:
                self._term(token, steps, bare)
                self._terms += 1
                depth -= self._close(steps, pending, depth)
                token = self.peek()
                if token.kind not in BINARY:
                    break
                self.take()
                strength, operation = BINARY[token.kind]
                self._reduce(steps, pending, strength)
                pending.append((strength, operation, token))
            self._check_size(start, token, depth)
            token = self.take()
        self._check_size(start, token, 0)
        if depth:
            opening = next(place for strength, _, place in reversed(pending) if strength == 0)
            self.fail(f"this '(' has no ')' before {token}", opening)
        self._reduce(steps, pending, 1)
        if len(steps) > 1:
            self._only_numbers(steps, start)
        return Side(steps, bare, start)

    def _check_size(self, start: Token, token: Token, depth: int) -> None:
        """Refuses a constraint that is too long, or too deep beside what is open around it."""
        if max(self._terms, self._signs) > self.limits.terms:
            self.fail(f"a constraint has at most {self.limits.terms:,} terms", start)
        if self.depth + depth > self.limits.depth:
            self.fail(f"parentheses are nested at most {self.limits.depth} deep", token)

    def _close(
        self, steps: list[Step], pending: list[tuple[int, Operation, Token]], depth: int
    ) -> int:
        """Takes the parentheses that close here; how many."""
        closed = 0
        while closed < depth and self.found(")"):
            self._reduce(steps, pending, 1)
            pending.pop()
            closed += 1
        return closed

    def _term(self, token: Token, steps: list[Step], bare: list[Token]) -> None:
        if token.kind in ("number", "string", "boolean"):
            steps.append(ConstantTerm(token.value))
            self._no_loose_unit(token)
        elif token.kind == "name":
            steps.append(AttributeReference("$", str(token.value)))
            bare.append(token)
            if self.peek().kind == "(":
                self.fail(
                    f"bind the answer of {token.value} to a variable, as in "
                    f"{token.value}(?x), and compare ?x",
                    token,
                )
        elif token.kind in ("variable", "attribute"):
            steps.append(
                AttributeReference("?" if token.kind == "variable" else "$", str(token.value))
            )
        elif token.kind == "null":
            self.fail(_NULL, token)
        else:
            self.fail(f"expected a value, found {token}", token)

    @staticmethod
    def _reduce(
        steps: list[Step], pending: list[tuple[int, Operation, Token]], strength: int
    ) -> None:
        while pending and pending[-1][0] >= strength:
            steps.append(pending.pop()[1])

    def _only_numbers(self, steps: list[Step], start: Token) -> None:
        for step in steps:
            if isinstance(step, ConstantTerm) and kind_of(step.value) != NUMBER:
                self.fail(
                    f"arithmetic takes numbers, and {constant_text(step.value)} is "
                    f"{a(KIND_NAMES[kind_of(step.value)])}",
                    start,
                )

    # comparisons

    def _compared(self, left: Side) -> tuple[Atom, ...]:
        token = self.take()
        if token.kind in RELATIONS:
            return (self._related(left, token.kind),)
        if token.kind == "∉":
            return self._within(left, token, negated=True)
        negated = token.kind == "not"
        if negated:
            token = self.take()
        read = COMPARISONS.get(token.kind)
        if read is not None:
            return read(self, left, token, negated=negated)
        if negated:
            self.fail(f"expected in, between, starts with … after not, found {token}", token)
        self._no_comparison(left, token)

    def _no_comparison(self, left: Side, token: Token) -> NoReturn:
        lone = left.expression.lone
        if isinstance(lone, AttributeReference) and lone.sigil == "$" and token.kind != "name":
            name = name_text(lone.name)
            self.fail(
                f"expected a comparison after {name}, found {token}; "
                f"write {name} = true, exists({name}), or {name}(…) for an operator",
                token,
            )
        self.fail(f"expected a comparison, found {token}", token)

    def _related(self, left: Side, op: str) -> Atom:
        right = self._side(self.take())
        ordering = op in ORDERINGS
        if not ordering and left.constant is None:
            if right.bare and right.expression.lone is None:
                self._ask_for_quotes(right)
            right = right.as_string()
        following = self.peek()
        if following.kind in RELATIONS:
            self.fail(
                "comparisons are not chained: write two of them with and, or an interval "
                "such as altitude in [50, 400]",
                following,
            )
        for side in (left, right):
            if ordering and isinstance(side.constant, bool):
                self.fail("a boolean has no order: compare it with = or !=", side.start)
        if not left.expression.references and not right.expression.references:
            self.fail(
                "this compares two constants: one side names an attribute or a variable", left.start
            )
        if not left.expression.references:
            left, right, op = right, left, MIRRORED[op]
        if right.constant is not None:
            return self._with_constants(left, Comparison(op, right.constant))
        guessed = tuple(
            str(token.value)
            for side in (left, right)
            for token in side.bare
            if ordering and side.expression.lone is not None
        )
        return Constraint(left.expression, None, op, right.expression, guessed)

    def _ask_for_quotes(self, right: Side) -> NoReturn:
        words = self.text[right.start.start : self.at].strip()
        name = name_text(str(right.bare[0].value))
        self.fail(
            f'arithmetic on the bare name {name}: write "{words}" for the string or '
            f"${name} for the attribute",
            right.start,
        )

    def _with_constants(self, left: Side, comparison: Comparison) -> Atom:
        lone = left.expression.lone
        if isinstance(lone, AttributeReference) and lone.sigil == "$":
            return AttributePredicate(lone.name, comparison)
        return Constraint(left.expression, comparison)

    def _subject(self, left: Side, token: Token) -> None:
        if not left.expression.references:
            self.fail(f"expected an attribute or a variable before '{token.value}'", left.start)

    def _signed(self, left: Side, comparison: Comparison, *, negated: bool) -> tuple[Atom, ...]:
        meant = comparison.complement() if negated else (comparison,)
        return tuple(self._with_constants(left, each) for each in meant)

    def _within(self, left: Side, token: Token, *, negated: bool) -> tuple[Atom, ...]:
        self._subject(left, token)
        opening = self.take()
        if opening.kind == "{":
            return self._signed(left, Comparison("in", self._members(opening)), negated=negated)
        if opening.kind in ("[", "("):
            return self._signed(left, self._interval(opening), negated=negated)
        self.fail(f"expected a set {{…}} or an interval [a, b] after in, found {opening}", opening)

    def _interval(self, opening: Token) -> Comparison:
        values: list[Scalar] = []
        dimensions: set[str] = set()
        while not (values and self.peek().kind in ("]", ")")):
            if values:
                self.expect(",", "or a closing bracket after a bound")
            token = self.peek()
            if token.kind in ("attribute", "variable"):
                self.fail("bounds are constants: write two comparisons with and", token)
            values.append(self._measured("as a bound", dimensions))
            if len(values) > self.limits.set_members:
                self.fail("an interval has two bounds", opening)
        closing = self.take()
        if len(values) != 2 or any(kind_of(value) != NUMBER for value in values):
            words = ", ".join(constant_text(value, bare=True) for value in values[:5])
            more = ", …" if len(values) > 5 else ""
            self.fail(f"an interval has two numbers; for a set write {{{words}{more}}}", opening)
        return Comparison(INTERVALS[opening.kind + closing.kind], tuple(values))

    def _between(self, left: Side, token: Token, *, negated: bool) -> tuple[Atom, ...]:
        self._subject(left, token)
        dimensions: set[str] = set()
        values: list[Scalar] = []
        for number in range(2):
            if number:
                self.expect("and", "between the two bounds")
            bound = self.peek()
            if bound.kind in ("name", "attribute", "variable"):
                self.fail(
                    f"bounds are constants: quote a string, or write two comparisons "
                    f"such as … >= {bound.value}",
                    bound,
                )
            value = self._measured("as a bound", dimensions)
            if isinstance(value, bool):
                self.fail("a boolean has no order: compare it with = or !=", bound)
            if values and kind_of(values[0]) != kind_of(value):
                self.fail("both bounds are numbers or both are strings", bound)
            values.append(value)
        return self._signed(left, Comparison("between", tuple(values)), negated=negated)

    def _affix(self, left: Side, token: Token, *, negated: bool) -> tuple[Atom, ...]:
        self._subject(left, token)
        op = token.kind
        if op in ("starts", "ends"):
            self.expect("with", f"after {op}")
            op = f"{op} with"
        constant = self.take()
        if constant.kind == "name":
            self.fail(f'{op} takes a string: write "{constant.value}"', constant)
        if constant.kind != "string":
            self.fail(f"{op} takes a string in quotes, found {constant}", constant)
        if op == "matches":
            if len(str(constant.value)) > self.limits.pattern_letters:
                most = f"{self.limits.pattern_letters:,}"
                self.fail(f"a regular expression has at most {most} letters", constant)
            try:
                searcher(str(constant.value))
            except ValueError as bad:
                self.fail(f"this is not a valid regular expression (RE2): {bad}", constant)
        return self._signed(left, Comparison(op, constant.value), negated=negated)

    def _having(self, left: Side, token: Token, *, negated: bool) -> tuple[Atom, ...]:
        lone = left.expression.lone
        if not isinstance(lone, AttributeReference):
            self.fail("has reads an attribute that is an array", left.start)
        if lone.sigil == "?":
            self.fail("a variable is one value: compare it with = or in", left.start)
        following = self.peek()
        if following.kind in ("any", "all", "none"):
            self.take()
            opening = self.expect("{", f"after has {following.value}")
            comparison = Comparison(f"has {following.value}", self._members(opening))
        else:
            if following.kind == "{":
                self.fail("write has any {…}, has all {…} or has none {…}", following)
            comparison = Comparison("has", self._constant("after has")[0])
        return self._signed(left, comparison, negated=negated)


COMPARISONS = {
    "in": AtomReader._within,
    "between": AtomReader._between,
    **dict.fromkeys(("starts", "ends", "contains", "matches"), AtomReader._affix),
    "has": AtomReader._having,
}
"""The readers of comparisons that begin with a word."""
