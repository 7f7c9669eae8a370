"""The memo is a list of shelves in the order of their use, whatever is done to it."""

from __future__ import annotations

import sys
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tamis.calling import sizes as module
from tamis.calling.answers import RAISED, Answer, Failure
from tamis.calling.memo import KnownAnswer, Memo, MemoAccount, Shelf
from tamis.language.values import kind_of
from tamis.operators.asking import Call
from tamis.testing import FakeClock

from .remembering import call_of, computed, digests_of, get, keep, kept, made_operator, shelf_of

XS: list[Any] = [0, 1, 1.0, True, "1", "x" * 50, None]
ARGUMENTS: list[tuple[Any, ...]] = [(1,), (True,), ("1",), (None,), (2, None), ("y" * 90,)]
ANSWERS = [
    *(Answer(True, seconds=1.5), Answer(False), Answer(False, []), Answer(False, [(1,)])),
    *(Answer(False, [(2.5, "a" * 40)] * 3), Answer(False, [(True,)] * 40, seconds=2)),
    Answer(False, [("b" * 5000,)]),
    *(Answer(failure=Failure(RAISED, "broken")), Answer(False, [(1,)], cut=True)),
]
OPERATORS = [made_operator("a"), made_operator("a", version="2"), made_operator("b")]
MOST_BYTES, OLDEST_SECONDS = 4_000, 10


class ModelShelf:
    """Answers about one value of one operator: `[key, answer, since, size]`, oldest use first."""

    def __init__(self, name: tuple[str, object], size: int) -> None:
        self.name = name
        self.size = size
        self.used = 0.0
        self.answers: list[list[Any]] = []


def deep_size(value: Any) -> int:
    inner = sum(map(deep_size, value)) if isinstance(value, (tuple, list)) else 0
    return sys.getsizeof(value) + inner


def size_of(call: Call, answer: Answer) -> int:
    key = sys.getsizeof(call.key)
    for part in call.key[1:]:
        if part is not None:
            assert isinstance(part, tuple)
            key += sys.getsizeof(part) + sys.getsizeof(part[1])
    solutions = answer.solutions
    return (
        module._ANSWER_BYTES
        + key
        + (sys.getsizeof(answer) + deep_size(solutions) if solutions else 0)
    )


OPERATOR = st.integers(0, len(OPERATORS) - 1)
X = st.integers(0, len(XS) - 1)


class MemoModel(RuleBasedStateMachine):
    """A memo beside a list of shelves in the order of their use."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = FakeClock()
        self.memo = Memo(MOST_BYTES, OLDEST_SECONDS, self.clock)
        self.shelves: list[ModelShelf] = []
        self.accounts: dict[str, MemoAccount] = {}

    def names(self, operator: int, x: int) -> tuple[tuple[str, object], Shelf]:
        specification = OPERATORS[operator].specification
        value = XS[x]
        self.account(specification.name)
        kind = "absent" if value is None else kind_of(value)
        name = (specification.name, (specification.version, kind, value))
        return name, shelf_of(self.memo, OPERATORS[operator], value)

    def account(self, name: str) -> MemoAccount:
        return self.accounts.setdefault(name, MemoAccount())

    # what the model does

    def find_shelf(self, name: object) -> ModelShelf | None:
        return next((shelf for shelf in self.shelves if shelf.name == name), None)

    def use(self, name: object) -> ModelShelf | None:
        while self.shelves and self.clock.now - self.shelves[0].used > OLDEST_SECONDS:
            gone = self.shelves.pop(0)
            self.account(gone.name[0]).expired += len(gone.answers)
        shelf = self.find_shelf(name)
        if shelf is not None:
            self.shelves.remove(shelf)
            self.shelves.append(shelf)
            shelf.used = self.clock.now
        return shelf

    def remove(self, shelf: ModelShelf, entry: list[Any]) -> None:
        shelf.answers.remove(entry)
        if not shelf.answers:
            self.shelves.remove(shelf)

    def find(self, shelf: ModelShelf | None, call: Call) -> Answer | None:
        for entry in [] if shelf is None else shelf.answers:
            if entry[0] == call.key:
                assert shelf is not None
                if self.clock.now - entry[2] > OLDEST_SECONDS:
                    self.remove(shelf, entry)
                    self.account(shelf.name[0]).expired += 1
                    return None
                shelf.answers.remove(entry)
                shelf.answers.append(entry)
                found: Answer = entry[1]
                return found
        return None

    def remember(self, name: tuple[str, object], x: int, call: Call, answer: Answer) -> None:
        if answer.failure is not None or answer.cut:
            return
        shelf = self.use(name)
        for entry in [] if shelf is None else list(shelf.answers):
            if entry[0] == call.key:
                assert shelf is not None
                self.remove(shelf, entry)
        digest = digests_of(XS[x]).together(("x",))
        assert digest is not None
        own, size = module._SHELF_BYTES + len(digest), size_of(call, answer)
        if own + size > MOST_BYTES:
            return
        shelf = self.find_shelf(name)
        if shelf is None:
            shelf = ModelShelf(name, own)
            shelf.used = self.clock.now
            self.shelves.append(shelf)
        shelf.answers.append([call.key, answer._replace(seconds=0.0), self.clock.now, size])
        while self.bytes() > MOST_BYTES:
            oldest = self.shelves[0]
            self.account(oldest.name[0]).evictions += 1
            self.remove(oldest, oldest.answers[0])

    def bytes(self, operator: str | None = None) -> int:
        return sum(
            shelf.size + sum(entry[3] for entry in shelf.answers)
            for shelf in self.shelves
            if operator in (None, shelf.name[0])
        )

    # what both do

    @rule(
        operator=OPERATOR,
        x=X,
        arguments=st.sampled_from(ARGUMENTS),
        answer=st.sampled_from(ANSWERS),
    )
    def keep(self, operator: int, x: int, arguments: tuple[Any, ...], answer: Answer) -> None:
        name, shelf = self.names(operator, x)
        call = call_of(OPERATORS[operator], *arguments)
        keep(shelf, call, answer)
        self.remember(name, x, call, answer)

    @rule(operator=OPERATOR, x=X, arguments=st.sampled_from(ARGUMENTS))
    def get(self, operator: int, x: int, arguments: tuple[Any, ...]) -> None:
        name, shelf = self.names(operator, x)
        call = call_of(OPERATORS[operator], *arguments)
        expected = self.find(self.use(name), call)
        assert get(shelf, call) == expected
        account = self.account(name[0])
        account.hits += expected is not None
        account.misses += expected is None

    @rule(
        operator=OPERATOR,
        x=X,
        arguments=st.sampled_from(ARGUMENTS),
        answer=st.sampled_from(ANSWERS),
    )
    def compute(self, operator: int, x: int, arguments: tuple[Any, ...], answer: Answer) -> None:
        name, shelf = self.names(operator, x)
        call = call_of(OPERATORS[operator], *arguments)
        expected = self.find(self.use(name), call)
        given = computed(shelf, call, lambda: answer)
        account = self.account(name[0])
        if expected is None:
            assert given == KnownAnswer(answer, True)
            account.misses += 1
            self.remember(name, x, call, answer)
        else:
            assert given == KnownAnswer(expected, False)
            account.hits += 1

    @rule(operator=OPERATOR, x=X, count=st.integers(0, len(ARGUMENTS)))
    def known(self, operator: int, x: int, count: int) -> None:
        name, shelf = self.names(operator, x)
        calls = [call_of(OPERATORS[operator], *each) for each in ARGUMENTS[:count]]
        found = shelf.known({call.key: call for call in calls})
        there = self.find_shelf(name)
        expected = []
        if there is not None:
            there = self.use(name)
        if there is not None:
            if len(there.answers) < count:
                order = {entry[0]: at for at, entry in enumerate(there.answers)}
                calls = sorted(
                    (each for each in calls if each.key in order), key=lambda each: order[each.key]
                )
            for call in calls:
                answer = self.find(there, call)
                if answer is not None:
                    expected.append((call, answer))
        assert found == expected
        self.account(name[0]).hits += len(found)

    @rule(operator=OPERATOR, x=X)
    def look(self, operator: int, x: int) -> None:
        name, shelf = self.names(operator, x)
        there = self.find_shelf(name)
        entries = [] if there is None else there.answers
        assert len(kept(shelf)) == len(entries)
        assert kept(shelf, young=True) == [
            (entry[0], entry[1]) for entry in entries if self.clock.now - entry[2] <= OLDEST_SECONDS
        ]

    @rule(name=st.sampled_from("ab"))
    def forget(self, name: str) -> None:
        self.memo.forget(name)
        self.shelves = [shelf for shelf in self.shelves if shelf.name[0] != name]

    @rule(seconds=st.sampled_from([0.5, 4, 5, 11]))
    def advance(self, seconds: float) -> None:
        self.clock.advance(seconds)

    @invariant()
    def the_bytes_and_the_account_are_those_of_the_model(self) -> None:
        assert self.memo.bytes == self.bytes() <= MOST_BYTES
        for name, account in self.accounts.items():
            account.bytes = self.bytes(name)
            mine = [shelf for shelf in self.shelves if shelf.name[0] == name]
            account.answers = sum(len(shelf.answers) for shelf in mine)
        assert self.memo.account() == self.accounts


TestMemoModel = MemoModel.TestCase
TestMemoModel.settings = settings(deadline=None, max_examples=80, stateful_step_count=60)
