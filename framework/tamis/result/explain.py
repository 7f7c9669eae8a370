"""Explains why a subscription did or did not match an event, from what the finished run says.

Only attribute predicates are evaluated again, for the index keeps no trace of them; operator
predicates are shown with the answers that were seen, or as not needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tamis.catalog.resolve import Resolver
from tamis.engine.decision import EXCLUDED, IMPLIED, MEMO, TRUTHS, Decision
from tamis.engine.state import OPEN, SPARED
from tamis.event import Event, plain_name
from tamis.event.clock import TIME_NAMES
from tamis.language.comparison import ARRAY, PRESENCE, SCALAR
from tamis.language.condition import Language
from tamis.language.constraint import Constraint
from tamis.language.normal import Leaf
from tamis.language.predicate import AttributePredicate, Disjunction, OperatorPredicate
from tamis.language.text import constant_text
from tamis.language.values import is_scalar
from tamis.operators.asking import Test
from tamis.operators.necessary import declaration_text, read
from tamis.result import Result
from tamis.words import counted, listed, shortened

_SOME = 5
_MARKS = {True: "true", False: "false", None: "unknown"}
MATCHED, NOT_MATCHED, UNDETERMINED = "matched", "not matched", "undetermined"


class Explanation:
    """The answer to *why did s1 (not) match?*, as text (`str`) and as data."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data

    @property
    def text(self) -> str:
        """The explanation for people."""
        return str(self)

    def __str__(self) -> str:
        data = self.data
        lines = [f"{data['subscription']} {_verb(data['verdict'])} {data['event']}"]
        if data["because"]:
            lines[0] += f", because {data['because']}"
        lines.append(f"  where {' '.join(data['where'].split())}")
        several = len(data["alternatives"]) > 1
        for number, alternative in enumerate(data["alternatives"], 1):
            if several:
                lines.append(f"  alternative {number}: {alternative['verdict']}")
            lines.extend(
                f"    {'  ' if several else ''}{_line(each)}" for each in alternative["predicates"]
            )
        if data.get("bindings") not in (None, [{}]):
            assignments = [_assignment(each) for each in data["bindings"]]
            lines.append(f"  bindings {listed(assignments, _SOME, '; ')}")
        return "\n".join(lines)

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from tamis.result.notebook import explanation_html

        return explanation_html(self)


def explain(result: Result, id: str, language: Language, resolver: Resolver) -> Explanation:
    """Explains a subscription of a result; `KeyError` if it was not there."""
    seen = result._seen
    row = _row_of(result, id)
    text = seen.catalog.text_of(row)
    matched = result.matches.of_row(row)
    reason = next((each.reason for each in result.undetermined if each.subscription == id), None)
    alternatives = []
    for leaves in language.parse(text).alternatives:
        about = _About(result, row, leaves, text, resolver)
        alternatives.append({"verdict": about.verdict(), "predicates": about.records})
    data: dict[str, Any] = {
        "subscription": id,
        "event": result.event,
        "verdict": MATCHED if matched else UNDETERMINED if reason else NOT_MATCHED,
        "where": text,
        "because": reason or ("" if matched else _because(alternatives)),
        "alternatives": alternatives,
    }
    if matched is not None:
        data["bindings"] = matched.bindings
    return Explanation(data)


def _row_of(result: Result, id: str) -> int:
    """Returns the row the subscription had when the event was matched."""
    catalog = result._seen.catalog
    row = catalog.rows.get(id)
    if row is not None and catalog.added_at(row) <= result._seen.version:
        return row
    for gone in catalog.epochs.retired_since(result._seen.lease):
        if catalog.id_of(gone) == id and catalog.added_at(gone) <= result._seen.version:
            return gone
    raise KeyError(f"{id} was not subscribed when {result.event} was matched")


class _About:
    """Explains one alternative of one subscription by a finished run."""

    def __init__(
        self, result: Result, row: int, leaves: Sequence[Leaf], text: str, resolver: Resolver
    ) -> None:
        self.event: Event = result._seen.event
        self.decision: Decision | None = result._seen.decision
        self.catalog = result._seen.catalog
        self.row = row
        self.leaves = leaves
        self.asked = resolver.resolve(leaves, text)
        self.numbers: dict[object, int] = {}
        if self.decision is not None:
            skeleton = self.decision.skeleton
            self.numbers = {test.key: at for at, test in enumerate(skeleton.tests)}
        self.records = [self._record(leaf) for leaf in leaves]
        for record, leaf in zip(self.records, leaves, strict=True):
            if isinstance(leaf.atom, Constraint) and leaf.atom.variables:
                self._note_guard(record, set(leaf.atom.variables))

    def verdict(self) -> str:
        """Returns the verdict on the alternative, by the run or by the index before it."""
        truths = [record["truth"] for record in self.records if "truth" in record]
        if False in truths:
            return "false"
        at = self._place()
        if at is None or self.decision is None:
            return "true" if all("truth" in record for record in self.records) else "false"
        verdict = self.decision.verdict[at]
        return "not needed" if verdict == SPARED else _MARKS[TRUTHS[verdict]]

    def _place(self) -> int | None:
        """Returns its number in the decision, if it was a candidate."""
        decision = self.decision
        if decision is None:
            return None
        skeleton, problem = decision.skeleton, decision.skeleton.problem
        mine = {(self.numbers.get(test.key), sign) for test, sign in self.asked.edges}
        conditions = {each.text for each in self.asked.conditions}
        conditions |= {each.text() for each in self.asked.constraints}
        for at, owner in enumerate(skeleton.owners):
            if int(skeleton.subscriptions[owner]) != self.row:
                continue
            start, end = problem.alternative_start[at : at + 2].tolist()
            columns = (problem.edge_test[start:end], problem.edge_sign[start:end])
            edges = zip(*(column.tolist() for column in columns), strict=True)
            plan = skeleton.plans.get(at)
            theirs = {each.text for each in skeleton.conditions.get(at, ())}
            theirs |= set() if plan is None else {each.text() for each in plan.constraints}
            if set(edges) == mine and theirs == conditions:
                return at
        return None

    def _record(self, leaf: Leaf) -> dict[str, Any]:
        if isinstance(leaf.atom, Disjunction):
            return self._disjunction(leaf.atom)
        if isinstance(leaf.atom, AttributePredicate):
            return self._attribute(leaf.atom)
        if isinstance(leaf.atom, OperatorPredicate):
            return self._operator(leaf.atom, leaf)
        return self._constraint(leaf.atom)

    def _disjunction(self, predicate: Disjunction) -> dict[str, Any]:
        parts = [self._attribute(part) for part in predicate.parts]
        details = dict.fromkeys(part["detail"] for part in parts)
        return {
            "predicate": predicate.text(),
            "kind": "attribute",
            "truth": any(part["truth"] for part in parts),
            "how": "index",
            "detail": ", ".join(details),
            "value": {part.attribute: read(self.event, part) for part in predicate.parts},
        }

    def _attribute(self, predicate: AttributePredicate) -> dict[str, Any]:
        value = read(self.event, predicate)
        return {
            "predicate": predicate.text(),
            "kind": "attribute",
            "truth": predicate.comparison.compiled()(value),
            "how": "index",
            "detail": self._value_detail(predicate.attribute, value, predicate.comparison.reads),
            "value": list(value) if isinstance(value, tuple) else value,
        }

    def _value_detail(self, name: str, value: object, reads: str) -> str:
        """Describes what the event has of that name."""
        shown = plain_name(name)
        if reads == PRESENCE:
            return f"{shown} is {'there' if value else 'absent'}"
        if value is not None:
            return f"{shown} is {_shown(value)}"
        there = self.event.value(name)
        if there is None:
            return f"{shown} is absent{self._not_made(shown)}"
        return f"{shown} is {_shown(there)}, not {'an array' if reads == ARRAY else 'a scalar'}"

    def _not_made(self, name: str) -> str:
        """Says of which value a derived attribute cannot be made, where that value is there."""
        derived = self.event.derived.get(name)
        if derived is None or not derived.inputs or not self.event.is_undecided(name):
            return ""
        source = derived.inputs[0]
        end = "cannot be read" if name in TIME_NAMES else "gives none"
        return f": the {source} {_shown(self.event.value(source))} {end}"

    def _constraint(self, constraint: Constraint) -> dict[str, Any]:
        record: dict[str, Any] = {"predicate": constraint.text(), "kind": "constraint"}
        if constraint.variables:
            record["joint"] = list(constraint.variables)
        values = {name: self.event.scalar(name) for name in constraint.attributes}
        if values:
            record["value"] = values
            record["detail"] = ", ".join(
                self._value_detail(name, value, SCALAR) for name, value in values.items()
            )
        for condition in self.asked.conditions:
            if condition.text == record["predicate"]:
                record |= {"truth": condition.holds(self.event), "how": "event"}
        return record

    def _operator(self, predicate: OperatorPredicate, leaf: Leaf) -> dict[str, Any]:
        record: dict[str, Any] = {"predicate": leaf.text(), "kind": "operator"}
        guards = self._guards(predicate)
        if guards:
            record["guards"] = guards
        test = self.asked.tests[leaf.start]
        decision, number = self.decision, self.numbers.get(test.key)
        if decision is not None and number is not None:
            test = decision.skeleton.tests[number]  # operators may have been refreshed since
        if number is not None or test.necessary:
            first = self._before_a_call(test, leaf)
            if first is not None:
                return record | first
        if decision is None or number is None:
            return record | {"how": "not needed", "detail": "not called: not a candidate"}
        call = int(decision.skeleton.problem.test_call[number])
        if decision.outcome[number] == OPEN:
            return record | {"how": "not needed", "detail": "not called: it was not needed"}
        truth = decision.truth_of(number)
        record["truth"] = None if truth is None else truth is not leaf.negated
        record["how"] = decision.outcomes[number]
        record["shared_with"] = self._sharers(call)
        if record["how"] == IMPLIED:
            source = decision.implied_by(number)
            said = _MARKS[decision.truth_of(source)]
            detail = f"not called: implied by {decision.skeleton.tests[source].text}, {said}"
            return record | {"detail": detail}
        if record["how"] != MEMO:
            record["seconds"] = decision.answer_of(number).seconds
        record["detail"] = self._answer(decision, number, guards)
        return record

    def _before_a_call(self, test: Test, leaf: Leaf) -> dict[str, Any] | None:
        """Returns what decides an operator predicate first: an absent input, or a declaration."""
        needed = test.call.specification.needed
        absent = next((name for name in needed if not self.event.present(name)), None)
        if absent is not None:
            return {
                "truth": False,
                "how": "missing input",
                "detail": f"not called: its input {absent} is absent",
            }
        broken = test.necessary.broken(self.event)
        if broken is None:
            return None
        value = read(self.event, broken)
        detail = self._value_detail(broken.attribute, value, broken.comparison.reads)
        return {
            "truth": leaf.negated,
            "how": EXCLUDED,
            "detail": f"not called: it declares {declaration_text(broken)}, and {detail}",
        }

    def _note_guard(self, record: dict[str, Any], variables: set[str]) -> None:
        """Notes that a constraint over one predicate's variables was decided with it."""
        for other, leaf in zip(self.records, self.leaves, strict=True):
            if isinstance(leaf.atom, OperatorPredicate) and variables <= set(leaf.atom.variables):
                record.pop("joint", None)
                record["how"] = "guard"
                if other.get("truth"):
                    record["truth"] = True
                return

    def _guards(self, predicate: OperatorPredicate) -> list[str]:
        """Returns the constraints that are decided with the predicate."""
        return [
            constraint.text()
            for constraint in self.asked.constraints
            if set(constraint.variables).issubset(predicate.variables)
        ]

    def _answer(self, decision: Decision, number: int, guards: list[str]) -> str:
        """Describes the answer to the call."""
        answer = decision.answer_of(number)
        if number in decision.failures:
            return str(decision.failures[number])
        gave = "remembered from an earlier event: the call gave"
        if decision.outcomes[number] != MEMO:
            gave = "the call gave"
        if answer.solutions is None:
            return f"{gave} {_MARKS[answer.truth]}"
        found = listed([_solution(each) for each in answer.solutions], _SOME) or "no solution"
        if not answer.solutions or number in decision.rows:
            return f"{gave} {found}"
        wanted = " and ".join(guards) or "what is asked for"
        return f"{gave} {found}: nothing with {wanted}"

    def _sharers(self, call: int) -> list[str]:
        """Returns the other candidates that hold the call."""
        decision = self.decision
        assert decision is not None
        skeleton = decision.skeleton
        owners = {skeleton.owners[at] for at in skeleton.problem.call_alternatives[call]}
        rows = {int(skeleton.subscriptions[owner]) for owner in owners} - {self.row}
        return sorted(self.catalog.id_of(row) for row in rows)


def _because(alternatives: list[dict[str, Any]]) -> str:
    """Names the first false predicate of each alternative."""
    reasons = []
    for alternative in alternatives:
        false = next(
            (each for each in alternative["predicates"] if each.get("truth") is False), None
        )
        if false is None:
            joint = [each["predicate"] for each in alternative["predicates"] if "joint" in each]
            satisfies = f" satisfies {' and '.join(joint)}" if joint else ""
            reasons.append(f"no joint assignment of its variables{satisfies}")
        else:
            detail = f" ({false['detail']})" if false.get("detail") else ""
            others = len(false.get("shared_with", ()))
            shared = f", shared with {counted(others, 'other')}" if others else ""
            reasons.append(f"{false['predicate']} is false{detail}{shared}")
    return "; ".join(dict.fromkeys(reasons))


def _verb(verdict: str) -> str:
    return {
        MATCHED: "matches",
        NOT_MATCHED: "does not match",
        UNDETERMINED: "is undetermined for",
    }[verdict]


def _line(record: dict[str, Any]) -> str:
    mark = _MARKS[record["truth"]] if "truth" in record else "-"
    words = [f"{mark:<8}{record['predicate']}"]
    if record.get("detail"):
        words.append(f"  {record['detail']}")
    if record.get("how") in ("called", "shared"):
        others = record["shared_with"]
        if others:
            words.append(f"; shared with {listed(others, _SOME)}")
    return "".join(words)


def _solution(values: Sequence[Any]) -> str:
    words = ", ".join(_shown(value) for value in values)
    return words if len(values) == 1 else f"({words})"


def _assignment(values: dict[str, Any]) -> str:
    return ", ".join(f"?{name} = {_shown(value)}" for name, value in values.items())


def _shown(value: object) -> str:
    if is_scalar(value):
        words = constant_text(value)
    elif isinstance(value, (list, tuple)):
        words = f"[{', '.join(_shown(each) for each in value[: _SOME + 1])}]"
    else:
        words = str(value)
    return shortened(words, 60)
