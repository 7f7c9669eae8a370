"""Laws of other interpreters: operators arrive there, answer alike, and import nothing before."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Sequence

from tamis.errors import OperatorError, TamisError
from tamis.operators.shipping import packed
from tamis.plugins.loader import installed
from tamis.testing.conformance.breach import Breach
from tamis.testing.conformance.elsewhere import ElsewhereOutcome, SentOperator
from tamis.testing.conformance.outcome import TOLERANCE, alike
from tamis.testing.conformance.subject import LawSubject

_PROGRAM = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from tamis.testing.conformance.elsewhere import main; main()"
)
_STARTING_SECONDS = 100


def travel_together(subjects: Sequence[LawSubject]) -> None:
    """Sends those that can be asked and have not been sent yet."""
    waiting = [each for each in subjects if each.trip is None]
    travel([each for each in waiting if each.specification.missing is None and each.has("cases")])


def travel(subjects: Sequence[LawSubject]) -> None:
    """Sends operators to another interpreter, all to one, and keeps what came of each."""
    going: list[tuple[LawSubject, SentOperator]] = []
    for subject in subjects:
        try:
            sent = SentOperator(
                packed([subject.record]),
                _portable([(case.predicate, case.content) for case in subject.cases]),
                subject.specification.modules,
            )
        except (OperatorError, Breach) as failure:
            subject.trip = str(failure)
        else:
            going.append((subject, sent))
    if not going:
        return
    seconds = _STARTING_SECONDS + sum(subject.patience_seconds for subject, _ in going)
    try:
        ended = subprocess.run(
            [sys.executable, "-c", _PROGRAM, json.dumps(sys.path)],
            input=pickle.dumps([sent for _, sent in going]),
            capture_output=True,
            timeout=seconds,
            check=False,
        )
        found = (
            [ElsewhereOutcome(*each) for each in pickle.loads(ended.stdout)] if ended.stdout else []
        )
        words = ended.stderr.decode(errors="replace").strip()[-300:]
    except subprocess.TimeoutExpired:
        found, words = [], f"no answer within {seconds:g} s"
    if len(going) > 1 and not found:  # one of them ended the interpreter: which?
        for subject, _ in going:
            travel([subject])
        return
    came: Sequence[ElsewhereOutcome | str] = found or [words or "it ended the interpreter"] * len(
        going
    )
    for (subject, _), arrived in zip(going, came, strict=True):
        subject.trip = arrived


def _portable(asked: object) -> bytes:
    try:
        return pickle.dumps(asked)
    except Exception as failure:
        raise OperatorError(
            f"the events of its samples cannot be sent: {type(failure).__name__}: {failure}"
        ) from failure


def _arrived(subject: LawSubject) -> ElsewhereOutcome:
    if subject.trip is None:
        travel([subject])
    if isinstance(subject.trip, ElsewhereOutcome):
        return subject.trip
    raise Breach(
        "it does not arrive in another interpreter",
        expected="to be packed, sent and made there, as on Spark and in worker processes",
        got=subject.trip,
        mend="let an OperatorRecord's factory be an importable class or function, or a "
        "functools.partial of one with plain arguments",
    )


def travels(subject: LawSubject) -> None:
    """in another interpreter, as on Spark and in worker processes, it answers alike"""
    arrived = _arrived(subject)
    if arrived.failure:
        raise Breach(
            "it cannot be made in another interpreter",
            expected="to be unpacked and made there",
            got=arrived.failure,
            mend="define it in a module that can be imported there, and keep files that it "
            "reads inside of the package",
        )
    if arrived.printed:
        raise Breach(
            "it prints to standard output, which belongs to the matches",
            expected="silence",
            got=repr(arrived.printed),
            mend="take out print, and silence the libraries it uses",
        )
    if not subject.steady:
        return
    for case, here, there in zip(subject.cases, subject.outcomes, arrived.outcomes, strict=True):
        if not alike(here, there, TOLERANCE):
            raise case.breach(
                "in another interpreter it answers otherwise",
                expected=f"{here}, as here",
                got=there,
                mend="depend on nothing that is set up in this process, nor on the order of a set",
            )


def listing(subject: LawSubject) -> None:
    """being listed imports none of its modules"""
    if not subject.specification.modules:
        return
    arrived = _arrived(subject)
    found = [*(arrived.listed if _is_installed(subject) else ()), *arrived.imported]
    if found:
        raise Breach(
            "it imports its modules before it is needed",
            expected=f"none of {', '.join(subject.specification.modules)} imported by listing it",
            got="; ".join(found),
            mend="import them in the factory or in methods, or in a module that those import",
        )


def _is_installed(subject: LawSubject) -> bool:
    try:
        return installed().operators.get(subject.name) == subject.record
    except TamisError:
        return False
