"""Keeps what operators said of an event, so that it can be decided again without asking them.

A trace holds the answer of each call by the call's text: a truth, solutions, or a failure; and of
what was implied, by which call. It has a size at most: answers beyond it are left out, the largest
first, and named. Traces of all events together have a size too; the oldest go first.
Cost: that of the JSON of the answers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tamis.calling.answers import Answer, Failure
from tamis.engine.decision import CALLED, IMPLIED, MEMO, Decision
from tamis.engine.wider import narrowed_answers

if TYPE_CHECKING:
    import apsw

    from tamis.server.changes import Verdict

MOST_BYTES = 256 * 1024 * 1024
"""Of the traces that are kept."""
_MOST_OF_ONE = 1024 * 1024
_DIGITS = 6


@dataclass(frozen=True)
class Trace:
    """Holds what was said of one event."""

    answers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By the text of the call."""
    implied: Mapping[str, str] = field(default_factory=dict)
    """The calls that were not made, and what said enough."""
    lost: Mapping[str, int] = field(default_factory=dict)
    """The calls whose answers were too large, and how large."""

    @classmethod
    def of(cls, decision: Decision) -> Trace:
        """Returns what was said while an event was decided."""
        calls, made = decision.skeleton.calls, set(decision.made)
        known = {
            **narrowed_answers(decision.skeleton.narrower, decision.answers),
            **decision.answers,
        }
        answers = {
            calls[at].text: _written(answer, MEMO if at not in made else CALLED)
            for at, answer in known.items()
        }
        tests, implied = decision.skeleton.tests, {}
        for test, how in decision.outcomes.items():
            text = tests[test].call.text
            if how == IMPLIED and text not in answers:
                implied[text] = tests[decision.implied_by(test)].call.text
        return cls(answers, implied)

    @classmethod
    def read(cls, text: str) -> Trace:
        """Returns the trace that a text is."""
        return cls(**json.loads(text))

    def written(self) -> str:
        """Returns the trace as a text, of which nothing is gone that it does not name."""
        text = _text(self)
        if len(text) <= _MOST_OF_ONE:
            return text
        sizes = {name: len(json.dumps(each)) for name, each in self.answers.items()}
        answers, lost = dict(self.answers), dict(self.lost)
        size = len(text)
        for name in sorted(sizes, key=sizes.__getitem__, reverse=True):
            if size <= _MOST_OF_ONE:
                break
            del answers[name]
            lost[name] = sizes[name]
            size -= sizes[name]
        return _text(replace(self, answers=answers, lost=lost))

    def answer(self, call: str) -> tuple[Answer, str] | None:
        """Returns what a call gave, and how it came about; nothing where that is not known."""
        known = self.answers.get(call)
        if known is None:
            return None
        failure = None if "failure" not in known else Failure(*known["failure"])
        solutions = known.get("solutions")
        answer = Answer(
            truth=known.get("truth", False),
            solutions=None if solutions is None else [tuple(each) for each in solutions],
            failure=failure,
            cut=known.get("cut", False),
            seconds=known.get("seconds", 0.0),
            made=False,
        )
        return answer, known["how"]

    def with_answers(self, later: Trace) -> Trace:
        """Returns the same with what was said later, which goes before what failed."""
        return Trace(
            {**self.answers, **later.answers},
            {**self.implied, **later.implied},
            {**self.lost, **later.lost},
        )

    def without_failures(self) -> Trace:
        """Returns the same without the answers that were none."""
        good = {name: each for name, each in self.answers.items() if "failure" not in each}
        return replace(self, answers=good)

    def sources(self, call: str) -> list[str]:
        """Returns the calls by which a call was implied, one by the other."""
        found: list[str] = []
        while call in self.implied and self.implied[call] not in found:
            call = self.implied[call]
            found.append(call)
        return found


def keep_traces(database: apsw.Connection, verdicts: Sequence[Verdict], most_bytes: int) -> None:
    """Writes what operators said of events beside their verdicts, and removes the oldest beyond so
    many bytes."""
    total = database.execute("SELECT coalesce(max(total), 0) FROM traces").get
    rows = []
    for verdict in verdicts:
        if verdict.trace is not None:
            total += len(verdict.trace)
            position = verdict.position if verdict.of is None else verdict.of
            rows.append((position, total, verdict.trace))
    if rows:
        database.executemany("INSERT OR REPLACE INTO traces VALUES(?, ?, ?)", rows)
        database.execute("DELETE FROM traces WHERE total<=?", (total - most_bytes,))


def _written(answer: Answer, how: str) -> dict[str, Any]:
    record: dict[str, Any] = {"how": how}
    if answer.failure is not None:
        record |= {"how": CALLED, "failure": [answer.failure.kind, answer.failure.message]}
    elif answer.solutions is not None:
        record["solutions"] = answer.solutions
    else:
        record["truth"] = answer.truth
    if answer.cut:
        record["cut"] = True
    if answer.whole_seconds:
        record["seconds"] = round(answer.whole_seconds, _DIGITS)
    return record


def _text(trace: Trace) -> str:
    parts = {name: value for name, value in vars(trace).items() if value}
    return json.dumps(parts, separators=(",", ":"))
