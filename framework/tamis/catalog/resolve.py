"""Binds what an alternative asks: its atoms to operators, its constraints to where they belong."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from tamis.catalog.declared import declared
from tamis.catalog.joins import JoinAtom
from tamis.errors import ArgumentError, OperatorError, SubscriptionError
from tamis.language.comparison import Comparison
from tamis.language.condition import Condition
from tamis.language.constraint import AttributeReference, Constraint
from tamis.language.contradiction import contradictory, exclusive
from tamis.language.normal import Leaf
from tamis.language.predicate import (
    AttributePredicate,
    Disjunction,
    OperatorPredicate,
    VariableArgument,
    parts_of,
)
from tamis.language.text import constant_text, name_text
from tamis.language.values import NUMBER, Scalar, kind_of
from tamis.nearest import did_you_mean
from tamis.operators import GoneOperator
from tamis.operators.asking import (
    Call,
    EventConstraint,
    Operators,
    SolutionSlot,
    Test,
    shipped_call,
    values_in_solutions,
)
from tamis.operators.necessary import Necessary
from tamis.operators.specification import PROCESS, Specification, Variable
from tamis.plugins.loader import installed
from tamis.words import counted, shortened

_SHOWN = 160


Edge = tuple[Test, int]
"""A test, and 1 where it is wanted true, -1 where false."""


class ResolvedAlternative(NamedTuple):
    """An alternative that is ready for the catalog."""

    predicates: tuple[AttributePredicate, ...]
    edges: tuple[Edge, ...]
    tests: Mapping[int, Test]
    """The test of each operator predicate by its place in the text."""
    atoms: tuple[JoinAtom, ...]
    conditions: tuple[EventConstraint, ...]
    constraints: tuple[Constraint, ...]
    """Those with variables; the ones over a single atom's variables guard its test too."""
    never: bool
    """True if no event can satisfy it."""
    empty: bool
    """True if its attribute predicates alone exclude every event."""
    necessary: tuple[AttributePredicate, ...] = ()
    """The declarations of operators on predicates that are wanted true, each once."""

    @property
    def indexed(self) -> tuple[AttributePredicate, ...]:
        """All that an index reads of it."""
        return self.predicates + self.necessary


class _Spot(NamedTuple):
    """The place in a text where an atom begins."""

    text: str
    start: int

    def refusal(self, problem: str, offset: int = 0) -> SubscriptionError:
        """Returns the error for what is wrong here."""
        return SubscriptionError(problem, text=self.text, position=self.start + offset)


class Resolver:
    """Binds alternatives to operators; calls and tests that are known are used again.

    Good for one batch of subscriptions: what is new in it is known to the rest of it."""

    def __init__(
        self,
        operators: Operators,
        known_call: Callable[[tuple[object, ...]], Call | None],
        known_test: Callable[[tuple[object, ...]], Test | None],
        renewed: frozenset[str] = frozenset(),
    ) -> None:
        self._operators = operators
        self._renewed = renewed
        """Operators that may refuse what they took before: then it is unknown, with that reason."""
        self.met_gone = False
        """True once a test is met that its operator does not take any more and may not refuse."""
        self._known_call = known_call
        self._known_test = known_test
        self._new_calls: dict[tuple[object, ...], Call] = {}
        self._new_tests: dict[tuple[object, ...], Test] = {}
        self._unguarded: tuple[dict[int, tuple[OperatorPredicate, Edge]], ...] = {}, {}
        """By predicate, wanted true or false, its edge where no constraint guards it."""

    def resolve_all(
        self, alternatives: Sequence[Sequence[Leaf]], text: str
    ) -> list[ResolvedAlternative]:
        """Returns the alternatives of a text as they are asked; unknown operators are the first
        error of all."""
        try:
            return [self.resolve(leaves, text) for leaves in alternatives]
        except SubscriptionError:
            for leaves in alternatives:
                self._check_names(leaves, text)
            raise

    def resolve(self, leaves: Sequence[Leaf], text: str) -> ResolvedAlternative:
        """Returns the alternative as it is asked; `SubscriptionError` where it cannot be."""
        predicates: list[AttributePredicate] = []
        constraints: list[tuple[Constraint, int]] = []
        operators: list[tuple[OperatorPredicate, bool, int]] = []
        has_clauses = False
        for atom, negated, start in leaves:
            if isinstance(atom, AttributePredicate):
                predicates.append(atom)
                has_clauses = has_clauses or isinstance(atom, Disjunction)
            elif isinstance(atom, Constraint):
                constraints.append((atom, start))
            else:
                operators.append((atom, negated, start))
        empty = _any_contradictory(predicates) or (
            has_clauses
            and exclusive(
                [(part.attribute, part.comparison) for part in parts_of(each)]
                for each in predicates
            )
        )
        if not operators and not constraints:
            return ResolvedAlternative(tuple(predicates), (), {}, (), (), (), empty, empty)
        return self._with_operators(predicates, constraints, operators, text, empty)

    def check(self, leaves: Sequence[Leaf], text: str) -> None:
        """Looks for all errors that the operators of several alternatives have: an error costs
        little before these are made of the leaves."""
        for atom, start in self._check_names(leaves, text):
            self._call(atom, _Spot(text, start))

    def _check_names(
        self, leaves: Sequence[Leaf], text: str
    ) -> list[tuple[OperatorPredicate, int]]:
        """Refuses unknown operators; returns the predicates of all, and where they begin."""
        asking = [
            (leaf.atom, leaf.start) for leaf in leaves if isinstance(leaf.atom, OperatorPredicate)
        ]
        for atom, start in asking:
            if atom.name not in self._operators.records:
                raise self._unknown_operator(atom, _Spot(text, start))
        return asking

    def _with_operators(
        self,
        predicates: list[AttributePredicate],
        constraints: list[tuple[Constraint, int]],
        operators: list[tuple[OperatorPredicate, bool, int]],
        text: str,
        empty: bool,
    ) -> ResolvedAlternative:
        conditions: tuple[EventConstraint, ...] = ()
        about: tuple[Constraint, ...] = ()
        by_variable: dict[str, list[Constraint]] = {}
        if constraints:
            conditions, about = _sorted_out(constraints, operators, text)
            for constraint in about:
                by_variable.setdefault(constraint.variables[0], []).append(constraint)
        edges: dict[Edge, None] = {}
        tests: dict[int, Test] = {}
        atoms: list[JoinAtom] = []
        necessary: dict[AttributePredicate, None] = {}
        for predicate, negated, start in operators:
            guards = _guards_of(predicate, by_variable) if by_variable else []
            # atoms are interned by their text: most are the very ones of subscriptions before
            known = None if guards else self._unguarded[negated].get(id(predicate))
            if known is None:
                test = self._test(predicate, guards, _Spot(text, start))
                known = predicate, (test, -1 if negated else 1)
                if not guards:
                    self._unguarded[negated][id(predicate)] = known
            edge = known[1]
            edges[edge] = None
            test = tests[start] = edge[0]
            if test.necessary.predicates and not negated:
                necessary |= dict.fromkeys(test.necessary.predicates)
            names = predicate.variables
            if names and not any(atom.test is test and atom.names == names for atom in atoms):
                atoms.append(JoinAtom(test, names))
        never = empty or len(edges) > len(set(tests.values())) or _never_hold(constraints)
        return ResolvedAlternative(
            tuple(predicates),
            tuple(edges),
            tests,
            tuple(atoms),
            conditions,
            about,
            never,
            empty,
            tuple(necessary),
        )

    def _test(self, predicate: OperatorPredicate, guards: list[Constraint], spot: _Spot) -> Test:
        names = {name: str(at + 1) for at, name in enumerate(predicate.variables)}
        renamed: dict[str, Constraint] = {}
        if guards:
            renamed = {each.text(): each for each in (guard.renamed(names) for guard in guards)}
        texts = sorted(renamed)
        key = (*predicate.renamed_key(names), None, *texts)
        known = self._known_test(key) or self._new_tests.get(key)
        if known is not None:
            self.met_gone |= isinstance(known.call.operator, GoneOperator) and not self._renewed
            return known
        call, places = self._call(predicate, spot)
        words = ", ".join([predicate.text(names), *texts])
        guarding = tuple(renamed[each] for each in texts)
        necessary = _necessary(call, places, guarding, predicate, spot)
        test = Test(key, call, places, guarding, words, necessary)
        return self._new_tests.setdefault(key, test)

    def _call(
        self, predicate: OperatorPredicate, spot: _Spot
    ) -> tuple[Call, tuple[SolutionSlot, ...]]:
        record = self._operators.records.get(predicate.name)
        if record is None:
            raise self._unknown_operator(predicate, spot)
        specification = record.specification
        _check_arguments(predicate, specification, spot)
        given: list[object] = []
        words: list[str] = []
        key: list[object] = [predicate.name]
        places: list[SolutionSlot] = []
        slots: dict[str, int] = {}
        outputs = set(specification.outputs)
        for at, argument in enumerate(predicate.arguments):
            parameter = specification.parameters[at] if at < len(specification.parameters) else None
            is_variable = isinstance(argument, VariableArgument)
            if is_variable or (parameter is not None and parameter.name in outputs):
                if isinstance(argument, VariableArgument):
                    places.append(SolutionSlot(slots.setdefault(argument.name, len(slots))))
                else:
                    places.append(SolutionSlot(-1, argument))
                given.append(Variable(len(places)))
                words.append(f"?{len(places)}")
                key.append(None)
            else:
                assert not isinstance(argument, VariableArgument)
                given.append(argument)
                words.append(constant_text(argument, bare=True))
                key.append((kind_of(argument), argument))
        call = self._known_call(tuple(key)) or self._new_calls.get(tuple(key))
        if call is None:
            call_text = f"{name_text(predicate.name)}({', '.join(words)})"
            try:
                operator = self._operators.operator(predicate.name)
                try:
                    arguments = _checked(operator.check, given, predicate, spot)
                except SubscriptionError as refusal:
                    if predicate.name not in self._renewed:
                        raise
                    operator = GoneOperator(specification, f"not taken any more: {refusal.problem}")
                    arguments = tuple(given)
                call = Call(tuple(key), operator, specification, arguments, len(places), call_text)
                call.values = _values(call, spot)
                if specification.isolation == PROCESS:
                    shipped_call(call)
            except OperatorError as failure:
                raise spot.refusal(str(failure)) from failure
            self._new_calls[call.key] = call
        return call, tuple(places)

    def _unknown_operator(self, predicate: OperatorPredicate, spot: _Spot) -> SubscriptionError:
        known, name = self._operators.records, name_text(predicate.name)
        if predicate.name in installed().operators:
            return spot.refusal(
                f"unknown operator {name}: it is installed, and operators=[…] are known alone; "
                "Matcher(also=[…]) knows both"
            )
        says = {name: record.specification.description for name, record in known.items()}
        hint = did_you_mean(predicate.name, known, says)
        if not hint and len(known) <= 12:
            hint = f" (known: {', '.join(sorted(known)) or 'none'})"
        return spot.refusal(f"unknown operator {name}{hint}")


def _sorted_out(
    constraints: Iterable[tuple[Constraint, int]],
    operators: Iterable[tuple[OperatorPredicate, bool, int]],
    text: str,
) -> tuple[tuple[EventConstraint, ...], tuple[Constraint, ...]]:
    """Returns constraints on the event, and those with variables, which operators must bind."""
    bound = [name for predicate, _, _ in operators for name in predicate.variables]
    for constraint, start in constraints:
        _check_bound(constraint, bound, _Spot(text, start))
    only = [constraint for constraint, _ in constraints]
    conditions = tuple(EventConstraint(each) for each in only if not each.variables)
    return conditions, tuple(each for each in only if each.variables)


def _guards_of(
    predicate: OperatorPredicate, by_variable: Mapping[str, Sequence[Constraint]]
) -> list[Constraint]:
    """Returns the constraints that need the variables of a predicate alone."""
    names = predicate.variables
    return [
        each
        for name in names
        for each in by_variable.get(name, ())
        if set(each.variables).issubset(names)
    ]


def _check_bound(constraint: Constraint, bound: Sequence[str], spot: _Spot) -> None:
    for name in constraint.variables:
        if name not in bound:
            hint = did_you_mean("?" + name, ["?" + each for each in bound])
            raise spot.refusal(f"no operator predicate of its alternative binds ?{name}{hint}")


def _checked(
    check: Callable[..., Sequence[object] | None],
    given: list[object],
    predicate: OperatorPredicate,
    spot: _Spot,
) -> tuple[object, ...]:
    """Returns the arguments after the operator has looked at them."""
    try:
        compiled = check(*given)
    except KeyboardInterrupt:
        raise
    except BaseException as refusal:
        at = refusal.argument if isinstance(refusal, ArgumentError) else 0
        offset = predicate.offsets[at] if at < len(predicate.offsets) else 0
        problem = str(refusal)
        if not isinstance(refusal, ValueError):
            problem = f"could not check its arguments: {type(refusal).__name__}: {refusal}"
        raise spot.refusal(f"{name_text(predicate.name)}: {problem}", offset) from refusal
    if compiled is None:
        return tuple(given)
    if isinstance(compiled, str) or not isinstance(compiled, Sequence):
        compiled = ()
    if len(compiled) != len(given):
        raise spot.refusal(
            f"{predicate.name}: its check returns None, or as many arguments as it gets"
        )
    return tuple(compiled)


def _values(call: Call, spot: _Spot) -> tuple[Scalar | None, ...] | None:
    """Returns the arguments as solutions name them, where the operator tells."""
    try:
        return values_in_solutions(call)
    except KeyboardInterrupt:
        raise
    except BaseException as failure:
        raise spot.refusal(
            f"what {call.text} is called in solutions cannot be used: "
            f"{type(failure).__name__}: {failure}"
        ) from failure


def _necessary(
    call: Call,
    places: tuple[SolutionSlot, ...],
    guards: tuple[Constraint, ...],
    predicate: OperatorPredicate,
    spot: _Spot,
) -> Necessary:
    """Returns what the operator declares necessary for a predicate."""
    try:
        return declared(call, places, guards)
    except KeyboardInterrupt:
        raise
    except BaseException as failure:
        problem = str(failure)
        if not isinstance(failure, ValueError):
            problem = f"{type(failure).__name__}: {failure}"
        raise spot.refusal(
            f"what {name_text(predicate.name)} declares necessary of {predicate.text()} cannot be "
            f"used: {problem}"
        ) from failure


def _check_arguments(
    predicate: OperatorPredicate, specification: Specification, spot: _Spot
) -> None:
    """Refuses arguments that the specification does not allow."""
    parameters, given = specification.parameters, predicate.arguments
    outputs, signature = " and ".join(specification.outputs), specification.signature
    needed = sum(parameter.required for parameter in parameters)
    if len(given) < needed or (len(given) > len(parameters) and not specification.variadic):
        most = "at least " if specification.variadic else ""
        some = needed if specification.variadic or len(given) < needed else len(parameters)
        words = counted(some, "argument")
        raise spot.refusal(f"{signature} takes {most}{words}, not {len(given)}")
    for at, argument in enumerate(given):
        parameter = parameters[at] if at < len(parameters) else None
        is_variable = isinstance(argument, VariableArgument)
        problem = None
        if parameter is None:
            if is_variable and outputs:
                problem = f"takes a constant; variables stand for {outputs}"
        elif not isinstance(argument, VariableArgument):
            wanted = parameter.problem(argument)
            problem = wanted and f"{wanted}, not {constant_text(argument)}"
        elif parameter.variable:
            continue
        elif outputs and parameter.name not in specification.outputs:
            problem = f"takes a constant; variables stand for {outputs}"
        elif not outputs and parameter.kinds is not None:
            problem = f"{parameter.wanted()}, not a variable"
        if problem is not None:
            what = "this place" if parameter is None else parameter.name
            raise spot.refusal(f"{what} of {signature} {problem}", predicate.offsets[at])


def _any_contradictory(predicates: Iterable[AttributePredicate]) -> bool:
    """Returns whether the comparisons of any one attribute exclude each other."""
    by_attribute: dict[str, list[Comparison]] = {}
    for each in predicates:
        by_attribute.setdefault(each.attribute, []).append(each.comparison)
    return any(map(contradictory, by_attribute.values()))


def _never_hold(constraints: Iterable[tuple[Constraint, int]]) -> bool:
    """Returns whether the comparisons of any one subject exclude each other, or one compares
    arithmetic with what is no number."""
    by_subject: dict[AttributeReference, list[Comparison]] = {}
    for constraint, _ in constraints:
        subject, comparison = constraint.left.lone, constraint.comparison
        if comparison is None:
            continue
        if isinstance(subject, AttributeReference):
            by_subject.setdefault(subject, []).append(comparison)
        elif subject is None and all(kind_of(each) != NUMBER for each in comparison.constants):
            return True
    return any(map(contradictory, by_subject.values()))


class Doubt(NamedTuple):
    """A problem of a text that is accepted and probably not meant, with its place if it has one."""

    problem: str
    position: int | None = None


def doubts(condition: Condition, asked: Sequence[ResolvedAlternative | None]) -> list[Doubt]:
    """Returns what is accepted of a text and probably not meant."""
    found = [Doubt(note, position) for note, position in condition.notes]
    never = [at for at, each in enumerate(asked) if each and each.never]
    if never:
        whole = len(never) == len(asked)
        what = "never matches" if whole else "has an alternative that never holds"
        words = shortened(
            " and ".join(leaf.text() for leaf in condition.alternatives[never[0]]), _SHOWN
        )
        found.append(Doubt(f"{what}: {words}"))
    return found
