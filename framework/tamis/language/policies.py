"""Reads the `deliver` of a subscription: its delivery policies, and the places of errors.

Whoever keeps the state of a policy finds here what there is to keep, in whole microseconds.
Cost: O(letters).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NoReturn

from tamis.errors import SubscriptionError
from tamis.language.durations import duration_seconds
from tamis.nearest import did_you_mean

EVERY, COOLDOWN, ONCE, OF, FOR, ON, DIGEST = KINDS = (
    "every", "cooldown", "once", "of", "for", "on", "digest"
)  # fmt: skip
ENTER, EXIT, BOTH = _EDGES = ("enter", "exit", "both")
VARIABLE = "?"
_LASTING = (COOLDOWN, FOR, DIGEST)
_PER, _GAP = "per", "gap"
_KEYS = (*KINDS, _PER, _GAP)
_MOST_EVENTS = 10_000
_MICROS = 1_000_000


@dataclass(frozen=True)
class Policy:
    """One delivery policy."""

    kind: str
    micros: int = 0
    """The duration of a `cooldown`, a `digest`, or the matching of `for`."""
    needed: int = 0
    among: int = 0
    """So many matches are needed `of` so many events."""
    edge: str = ""
    """The deliveries of a policy `on` edges: `enter`, `exit` or `both`."""
    per: tuple[str, ...] = ()
    """The attributes and the bindings, with their question marks, that make its key."""
    gap_micros: int | None = None

    @cached_property
    def has_bindings(self) -> bool:
        """True if its key is made of bindings too, so that only matches have one."""
        return any(name.startswith(VARIABLE) for name in self.per)

    @property
    def attributes(self) -> list[str]:
        """The attributes of its key."""
        return [name for name in self.per if not name.startswith(VARIABLE)]

    @property
    def ends_by_another(self) -> bool:
        """True if an event that does not match, or a gap, has to tell it that matching ended."""
        return self.kind == FOR or (self.kind == ON and self.edge != ENTER)


def policies_of(deliver: object, variables: Collection[str] | None) -> tuple[Policy, ...]:
    """Returns the policies of a `deliver`, one after the other, for a condition with these
    variables; where none are given, they were checked before."""
    if isinstance(deliver, Mapping):
        return (_PolicyReader("deliver", variables, behind=False).policy(deliver),)
    if not isinstance(deliver, Sequence) or isinstance(deliver, str) or not deliver:
        raise SubscriptionError(
            f"deliver: a policy is an object as {{'cooldown': '10min'}}, or a list of them, "
            f"not {deliver!r:.80}"
        )
    return tuple(
        _PolicyReader(f"deliver[{at}]", variables, behind=at > 0).policy(each)
        for at, each in enumerate(deliver)
    )


class _PolicyReader:
    """Reads one policy at its place."""

    def __init__(self, place: str, variables: Collection[str] | None, *, behind: bool) -> None:
        self._place = place
        self._variables = variables
        self._behind = behind

    def policy(self, given: object) -> Policy:
        """Returns the policy."""
        if not isinstance(given, Mapping):
            self._fail(f"a policy is an object as {{'cooldown': '10min'}}, not {given!r:.80}")
        for name in given:
            if name not in _KEYS:
                self._fail(f"unknown policy {name!r:.80}{did_you_mean(str(name), _KEYS)}")
        kinds = [kind for kind in KINDS if kind in given]
        if len(kinds) != 1:
            found = f"has {' and '.join(kinds)}" if kinds else "has none"
            self._fail(
                f"a policy is of one kind ({', '.join(KINDS)}), and this {found}; "
                "a list of policies applies one after the other"
            )
        kind = kinds[0]
        read = Policy(kind, **self._measure(kind, given[kind]), per=self._per(given.get(_PER, ())))
        return self._with_gap(read, given)

    def _measure(self, kind: str, value: object) -> dict[str, Any]:
        """Reads the value of the policy's kind."""
        if kind in _LASTING:
            return {"micros": self._micros(kind, value)}
        if kind == OF:
            return self._counts(value)
        if kind == ON:
            if value not in _EDGES:
                hint = did_you_mean(str(value), _EDGES)
                self._fail(f"is enter, exit or both, not {value!r:.80}{hint}", ON)
            return {"edge": value}
        if value is not True:
            self._fail(f"is true, not {value!r:.80}; leave it out for every match", kind)
        return {}

    def _counts(self, value: object) -> dict[str, Any]:
        counts = list(value) if isinstance(value, Sequence) and not isinstance(value, str) else []
        if [type(each) for each in counts] != [int, int]:
            self._fail(f"is two whole numbers as [3, 5], not {value!r:.80}", OF)
        needed, among = counts
        if not 1 <= needed <= among <= _MOST_EVENTS:
            self._fail(
                f"needs at least 1 match of at most {_MOST_EVENTS:,} events, and no more matches "
                f"than events, not {value!r:.80}",
                OF,
            )
        return {"needed": needed, "among": among}

    def _per(self, value: object) -> tuple[str, ...]:
        if not isinstance(value, Sequence) or isinstance(value, str):
            hint = f": write [{value!r:.80}]" if isinstance(value, str) else ""
            self._fail(f"is a list of attributes and ?variables, not {value!r:.80}{hint}", _PER)
        for at, name in enumerate(value):
            place = f"{_PER}[{at}]"
            if not isinstance(name, str) or name in ("", VARIABLE):
                self._fail(f"is the name of an attribute or a ?variable, not {name!r:.80}", place)
            if name in value[:at]:
                self._fail(f"{name!r:.80} is there twice", place)
            if name.startswith(VARIABLE):
                self._check_variable(name, place)
        return tuple(value)

    def _check_variable(self, name: str, place: str) -> None:
        if self._variables is None or name[1:] in self._variables:
            return
        known = [VARIABLE + each for each in sorted(self._variables)]
        hint = did_you_mean(name, known) if known else ": the condition binds none"
        self._fail(f"unknown variable {name:.80}{hint}", place)

    def _with_gap(self, policy: Policy, given: Mapping[str, Any]) -> Policy:
        """Returns the policy with its gap, if it has one."""
        if _GAP not in given:
            if policy.ends_by_another and (self._behind or policy.has_bindings):
                why = "its key has a binding" if policy.has_bindings else "it is behind another one"
                said = f"on {policy.edge}" if policy.edge else policy.kind
                self._fail(
                    f"{said!r} needs a 'gap' as '20s', for {why}: no event tells that matching "
                    "has ended, a key that is not seen for so long has"
                )
            return policy
        if policy.kind not in (FOR, ON):
            self._fail(f"goes with 'for' and 'on', not with {policy.kind!r}", _GAP)
        return replace(policy, gap_micros=self._micros(_GAP, given[_GAP]))

    def _micros(self, name: str, value: object) -> int:
        try:
            micros = duration_seconds(value) * _MICROS
        except ValueError as bad:
            self._fail(str(bad), name)
        if micros < 1:
            self._fail(f"is a microsecond or more, not {value!r:.80}", name)
        return round(micros)

    def _fail(self, problem: str, below: str = "") -> NoReturn:
        raise SubscriptionError(f"{self._place}{'.' * bool(below)}{below}: {problem}")
