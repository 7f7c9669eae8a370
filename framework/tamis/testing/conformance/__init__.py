"""The conformance kit: what holds of every operator, held to by one call or by a class of tests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from tamis.errors import TamisError
from tamis.nearest import did_you_mean
from tamis.operators import Sample
from tamis.testing.conformance.breach import Breach
from tamis.testing.conformance.laws import LAWS, Law
from tamis.testing.conformance.subject import PATIENCE_SECONDS, LawSubject
from tamis.testing.conformance.travelling import travel_together

__all__ = [
    "LAWS",
    "Breach",
    "Law",
    "LawSubject",
    "OperatorConformance",
    "check_operator",
    "travel_together",
]


def check_operator(
    operator: object,
    samples: Iterable[Sample] | None = None,
    *,
    laws: Iterable[str] | None = None,
    examples: int = 25,
    patience_seconds: float = PATIENCE_SECONDS,
) -> None:
    """Raises `AssertionError` with the first law that the operator breaks, and how to mend it.

    `operator` is one, its class or record, or the name of an installed one; it is tried on its own
    samples unless others are given. `laws` names those to hold it to (all), `examples` says how
    many argument lists are drawn, `patience_seconds` after how long a call counts as hanging. Where
    a module that it needs is missing, the test is skipped.

    >>> import tamis
    >>> @tamis.operator(inputs=("loudness",), deterministic=True)
    ... def louderThan(event, level: float):
    ...     return float(event["loudness"]) > level
    >>> check_operator(louderThan, [tamis.Sample("louderThan(3)", {"loudness": 7}, True)])
    """
    names = [law.name for law in LAWS]
    wanted = names if laws is None else list(laws)
    for name in wanted:
        if name not in names:
            raise TamisError(f"there is no law {name!r}{did_you_mean(name, names)}")
    subject = LawSubject(operator, samples, examples=examples, patience_seconds=patience_seconds)
    for law in LAWS:
        if law.name in wanted:
            law.hold(subject)


class OperatorConformance:
    """A test class that holds an operator to every law, a test each: subclass it and name it.

    >>> import tamis
    >>> @tamis.operator(samples=[tamis.Sample("positive(3)", {}, True)])
    ... def positive(event, number: float):
    ...     return number > 0
    >>> class TestPositive(OperatorConformance):
    ...     operator = positive
    >>> TestPositive().test_answers()
    """

    operator: ClassVar[Any]
    """The operator, its class or record, or the name of an installed one."""
    samples: ClassVar[Iterable[Sample] | None] = None
    """The samples to try in the place of its own."""
    examples: ClassVar[int] = 25
    patience_seconds: ClassVar[float] = PATIENCE_SECONDS

    @classmethod
    def subject(cls) -> LawSubject:
        """Returns the operator as the laws see it, made once a class."""
        if "_subject" not in cls.__dict__:
            if not hasattr(cls, "operator"):
                raise TamisError(f"{cls.__name__} names no operator: operator = myOperator")
            cls._subject = LawSubject(
                cls.operator,
                cls.samples,
                examples=cls.examples,
                patience_seconds=cls.patience_seconds,
            )
        return cls._subject

    _subject: ClassVar[LawSubject]


def _test_of(law: Law) -> Any:
    def test(self: OperatorConformance) -> None:
        __tracebackhide__ = True
        law.hold(self.subject())

    test.__name__ = f"test_{law.name}"
    test.__qualname__ = f"OperatorConformance.{test.__name__}"
    test.__doc__ = f"Holds it to: {law.says}."
    return test


for _law in LAWS:
    setattr(OperatorConformance, f"test_{_law.name}", _test_of(_law))
