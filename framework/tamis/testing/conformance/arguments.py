"""Laws of arguments: whatever a subscription may write is refused with a sentence or answered."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tamis.calling.event_calls import EventCalls
from tamis.errors import SubscriptionError
from tamis.language.predicate import Argument, OperatorPredicate, VariableArgument
from tamis.language.values import Scalar
from tamis.operators.asking import Test
from tamis.testing.conformance.breach import Breach
from tamis.testing.conformance.outcome import alike
from tamis.testing.conformance.subject import Instance, LawSubject, event_of

_CONSTANTS: tuple[Scalar, ...] = (
    *(True, False, 0, -1, 7, 0.5, -2.75, 1e300, 10**40),
    *("", "x", "no such thing", "naïve ☃", "'\"\\`?", "a\nb", "SELECT (", "https://example.org/x"),
)
_MANY, _FEW = 60, 12


def arguments(subject: LawSubject) -> None:
    """arguments are refused by a SubscriptionError, or they are answered"""
    instance = subject.made()
    seen: dict[str, Test] = {}
    most = _FEW if subject.is_costly else _MANY
    for predicate in _predicates(subject):
        test = _bound(instance, predicate)
        if test is not None and test.call.text not in seen and len(seen) < most:
            seen[test.call.text] = test
            _check_answered(subject, instance, predicate, test)


def _bound(instance: Instance, predicate: str) -> Test | None:
    """Returns the predicate bound, `None` where it is refused as it has to be."""
    instance.notes.refusals.clear()
    got: BaseException | None = None
    try:
        return instance.bind(predicate)
    except SubscriptionError:
        wrong = [each for each in instance.notes.refusals if not isinstance(each, ValueError)]
        got = wrong[0] if wrong else None
    except KeyboardInterrupt as problem:
        if problem not in instance.notes.refusals:
            raise
        got = problem
    except Exception as problem:
        got = problem
    if got is None:
        return None
    raise Breach(
        "arguments bring down its check",
        predicate=predicate,
        expected="an answer, or a tamis.ArgumentError",
        got=f"{type(got).__name__}: {got}",
        mend="give the parameter a kind (level: float), and raise tamis.ArgumentError from check",
    )


def _check_answered(subject: LawSubject, instance: Instance, predicate: str, test: Test) -> None:
    """Checks that what was accepted is answered for an event that others are answered for."""
    failure = None
    for content in list({id(case.content): case.content for case, _ in subject.answered}.values())[
        :3
    ]:
        outcome = instance.answer(test, EventCalls(event_of(content)))
        if outcome.known:
            return
        failure = failure or (content, outcome)
    if failure is None:
        return
    asks = any(isinstance(each, VariableArgument) for each in instance.read(predicate).arguments)
    raise Breach(
        "arguments that a subscription may write are never answered",
        predicate=predicate,
        event=failure[0],
        expected="a SubscriptionError when subscribing, or an answer",
        got=failure[1],
        mend="name what variables stand for in outputs=(…), or give the parameter a kind"
        if asks
        else "give the parameter a kind (level: float), or refuse the value in check",
    )


def _predicates(subject: LawSubject) -> Iterator[str]:
    """Predicates with arguments of every kind, too few and too many of them."""
    own = [case.arguments.arguments for case in subject.cases[:3]] or [()]
    known = [each for each in own[0] if not isinstance(each, VariableArgument)]
    for given in _lists(own):
        yield _text(subject.name, given)
    for given in _drawn([*known, *_CONSTANTS], len(own[0]) + 2, subject.examples):
        yield _text(subject.name, given)


def _lists(own: Sequence[tuple[Argument, ...]]) -> Iterator[tuple[Argument, ...]]:
    for given in own:
        for count in range(len(given)):
            yield given[:count]
        yield (*given, "one more")
        yield (*given, *range(5))
        yield tuple(VariableArgument(f"v{at}") for at in range(len(given)))
        yield tuple(VariableArgument("v") for _ in given)
        for at in range(len(given)):
            for value in (*_CONSTANTS, VariableArgument("v")):
                yield (*given[:at], value, *given[at + 1 :])


def _text(name: str, given: Iterable[Argument]) -> str:
    return OperatorPredicate(name, tuple(given)).text()


def _drawn(known: Sequence[Scalar], longest: int, examples: int) -> list[tuple[Argument, ...]]:
    """Lists as hypothesis draws them, always the same; none where it is not installed."""
    try:
        import hypothesis
        from hypothesis import strategies as st
    except ImportError:
        return []
    constants = st.one_of(
        st.sampled_from(list(known)),
        st.integers(-(10**20), 10**20),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(max_size=12).filter(lambda text: text.isprintable()),
        st.just(VariableArgument("v")),
    )
    found: list[tuple[Argument, ...]] = []

    @hypothesis.settings(
        max_examples=max(1, examples),
        database=None,
        derandomize=True,
        deadline=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(st.lists(constants, max_size=longest))
    def draw(drawn: list[Argument]) -> None:
        found.append(tuple(drawn))

    draw()
    return found


def check(subject: LawSubject) -> None:
    """checked again, arguments are taken again, and what check made of them answers alike"""
    first, second = subject.made(), subject.made()
    for case in subject.cases:
        for instance in (first, first, second):
            try:
                instance.bind(case.predicate)
            except SubscriptionError as refusal:
                raise Breach(
                    "checked again, arguments are refused that were taken before",
                    predicate=case.predicate,
                    expected="the same verdict each time",
                    got=refusal.problem,
                    mend="let check look at its arguments and keep nothing",
                ) from refusal
    if not subject.steady:
        return
    for case in subject.cases:
        first.ask(case.predicate, case.content)
        wanted = first.ask(case.predicate, case.content)
        for _ in range(1 if subject.is_costly else 3):
            got = first.ask(case.predicate, case.content, again=False)
            if not alike(wanted, got):
                raise case.breach(
                    "what check made of the arguments is used up or changed by a call",
                    expected=f"{wanted}, as freshly checked",
                    got=got,
                    mend="return plain values or compiled forms from check, and never change them",
                )
