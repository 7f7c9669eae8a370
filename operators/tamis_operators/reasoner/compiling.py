"""Compiles rules: each becomes functions that a new triple triggers.

A rule has one function for every place of its body: the new triple stands there, the others are
looked up, those with most known terms first. A place `?x ?p ?y` is tried only for predicates that
another place of the rule is known to name (its guard: `?p rdfs:domain ?c`), and `?x a ?c` only for
such classes; so a triple costs what its own predicate and class are used for in the ontology.
The functions are written as Python and compiled once: a join that is interpreted costs ten times
as much.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tamis_operators.reasoner.rules import Part, Pattern, Rule
from tamis_operators.reasoner.vocabulary import TYPE

if TYPE_CHECKING:
    from tamis_operators.reasoner.closing import Closure

Triple = tuple[int, int, int]
Fire = Callable[["Closure", int, int, int], None]
"""The function that a new triple triggers: it calls `closure.add`."""


@dataclass(frozen=True)
class Guard:
    """A triple that makes a function worth trying for a predicate or a class that it names."""

    subject: bool
    other: int | None
    of_class: bool
    fire: Fire


@dataclass
class RuleSet:
    """A set of rules, ready to be triggered."""

    by_predicate: dict[int, list[Fire]] = field(default_factory=dict)
    by_type: dict[int, list[Fire]] = field(default_factory=dict)
    guards: dict[int, list[Guard]] = field(default_factory=dict)


def compiled(rules: Sequence[Rule]) -> RuleSet:
    """Returns the rules as functions, by what triggers them."""
    program = RuleSet()
    for rule in rules:
        for place, (_, predicate, object) in enumerate(rule.body):
            fire = _function(rule, place)
            if isinstance(predicate, str):
                _guard(program, rule, place, predicate, False, fire)
            elif predicate != TYPE:
                program.by_predicate.setdefault(predicate, []).append(fire)
            elif isinstance(object, int):
                program.by_type.setdefault(object, []).append(fire)
            else:
                _guard(program, rule, place, object, True, fire)
    return program


def _guard(program: RuleSet, rule: Rule, place: int, name: str, of_class: bool, fire: Fire) -> None:
    """Finds the place of the rule that names the predicate or the class."""
    for at, (subject, predicate, object) in enumerate(rule.body):
        if at == place or isinstance(predicate, str) or name not in (subject, object):
            continue
        if predicate == TYPE and not isinstance(object, int):
            continue
        other = object if name == subject else subject
        known = other if isinstance(other, int) else None
        guard = Guard(name == subject, known, of_class, fire)
        program.guards.setdefault(predicate, []).append(guard)
        return
    raise AssertionError(f"{rule.name} has no guard for {name}")


def _function(rule: Rule, place: int) -> Fire:
    """Returns the function of a rule that a new triple in this place of its body triggers."""
    writer = _Writer(rule)
    writer.match(rule.body[place])
    rest = [pattern for at, pattern in enumerate(rule.body) if at != place]
    while rest:
        best = max(rest, key=writer.known)
        rest.remove(best)
        writer.join(best)
    return writer.finished()


class _Writer:
    """The text of one function as it grows."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.bound: set[str] = set()
        self.lines: list[str] = []
        self.depth = 1
        self._told = False

    def write(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    def known(self, pattern: Pattern) -> tuple[bool, int]:
        """Ranks a pattern by whether its predicate is known, then by how many of its parts are."""
        return (
            self._is_known(pattern[1]),
            sum(self._is_known(part) for part in pattern),
        )

    def _is_known(self, part: Part) -> bool:
        return isinstance(part, int) or part in self.bound

    @staticmethod
    def _word(part: Part) -> str:
        return str(part) if isinstance(part, int) else f"v_{part}"

    def match(self, pattern: Pattern) -> None:
        """Matches the new triple: its terms are the first that are known."""
        for part, given in zip(pattern, ("s", "p", "o"), strict=True):
            if self._is_known(part):
                self.write(f"if {given} != {self._word(part)}: return")
            else:
                self.write(f"{self._word(part)} = {given}")
                self.bound.add(str(part))
        self._unequal()

    def join(self, pattern: Pattern) -> None:
        """Writes the lookup of a place."""
        subject, predicate, object = (self._word(part) for part in pattern)
        has_subject, has_object = self._is_known(pattern[0]), self._is_known(pattern[2])
        assert self._is_known(pattern[1]), self.rule.name
        if has_subject and has_object:
            self.write(f"if x.has({subject}, {predicate}, {object}):")
        elif has_subject:
            self.write(f"for {object} in x.objects({subject}, {predicate}):")
        elif has_object:
            self.write(f"for {subject} in x.subjects({predicate}, {object}):")
        elif pattern[0] == pattern[2]:
            self.write(f"for {subject} in x.loops({predicate}):")
        else:
            self.write(f"for {subject}, {object} in x.pairs({predicate}):")
        self.depth += 1
        self.bound |= {part for part in pattern if isinstance(part, str)}
        self._unequal()

    def _unequal(self) -> None:
        pair = self.rule.unequal
        if pair and not self._told and set(pair) <= self.bound:
            self.write(f"if v_{pair[0]} != v_{pair[1]}:")
            self.depth += 1
            self._told = True

    def finished(self) -> Fire:
        rule = self.rule
        if rule.head is not None:
            self.write(f"x.add(({', '.join(self._word(part) for part in rule.head)}))")
        else:
            terms = ", ".join(f"{name!r}: v_{name}" for name in sorted(self.bound))
            self.write(f"x.contradict({rule.contradiction!r}, {{{terms}}})")
        source = "\n".join(["def fire(x, s, p, o):", *self.lines])
        made: dict[str, Any] = {}
        exec(compile(source, f"<rule {rule.name}>", "exec"), made)
        fire: Fire = made["fire"]
        return fire
