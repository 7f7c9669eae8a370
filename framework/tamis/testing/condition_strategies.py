"""Draws the conditions that laws are tried on: texts that are valid, in all their spellings.

Every variable is bound beside where it is used, negations are of what has no variable, and a comma
never stands beside an `or` without brackets.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import Any

from tamis.index.clauses import Clause
from tamis.testing import pool
from tamis.testing.clause_strategies import RELATIONS, draw_clause
from tamis.testing.lazily import DrawFn, SearchStrategy, one_of, several, st

_ANDS = (" and ", " AND ", ", ", ",", " ∧ ", " && ")
_ORS = (" or ", " Or ", " ∨ ", " || ")
_BLANK = re.compile("<([a-z]+)>")
_BLANKS: dict[str, Sequence[object]] = {
    "truth": pool.TRUTHS,
    "count": pool.COUNTS,
    "key": pool.KEYS,
    "relation": RELATIONS,
    "ordering": RELATIONS[2:],
    "number": pool.SMALL_NUMBERS,
    "not": ("not ", "NOT ", "¬", "!", "! "),
    "variable": ("x", "y"),
    "unit": ("400m", "0.4km", "5km", "60km/h", "90deg", "2min", "3ft", "1_000", "+2"),
}
_GUARDS = (
    "?x > <number>",
    "?x <relation> <number>",
    "?x in {<number>, fire, true}",
    "?x between <number> and 5",
    "?x in (<number>, 5]",
    "?x starts with 'f'",
    "?x <relation> $altitude",
    "2*?x - 1 > <number>",
    "<not>(?x < <number>)",
)
_ASKING = (
    *(("<truth>(<key>)",), ("<truth>(<key>)",), ("<truth>(<key>)",), ("<not><truth>(<key>)",)),
    *(("<count>(<key>, ?x)", guard) for guard in _GUARDS),
    ("<count>(<key>, ?x)",),
    ("<count>(<key>, ?x)", "?x != <number>", "?x <ordering> <number>"),
    *(("<count>(<key>, <number>)",), ("<not><count>(<key>, <number>)",)),
    *(("near(<key>, ?x, ?x)",), ("near(<key>, <number>, ?y)",), ("near(<key>, fire, <number>)",)),
    *(
        ("<count>(<key>, ?x)", "<count>(<key>, ?y)", constraint)
        for constraint in ("?x <relation> ?y", "?y > 2*?x", "?x + ?y <relation> $speed")
    ),
    ("near(<key>, ?x, ?y)", "<count>(<key>, ?<variable>)"),
    ("near(<key>, ?x, ?y)", "<count>(<key>, ?<variable>)", "?x <relation> ?y"),
    *(("broken()",), ("odd(?x)",), ("not broken(a)",), ("odd(1)",)),
    *(("speed <ordering> $altitude",), ("altitude / 2 > 1",), ("speed + altitude <ordering> 3",)),
)
_ATTRIBUTES = (
    *(("<attribute>",), ("<attribute>",), ("<attribute>",), ("<not>(<attribute>)",)),
    ("altitude <relation> <unit>",),
    ("<not>(<attribute> or <truth>(<key>) or (<attribute>, <truth>(<key>)))",),
    ("<not>{<attribute>, <truth>(<key>)}",),
    ("<number> <relation> speed",),
)
_EVERYTHING = (*_ATTRIBUTES, *_ATTRIBUTES, *_ASKING)


def conditions(*, attributes: bool = True) -> SearchStrategy[str]:
    """Texts of conditions over the pool and `pool_operators()`, in all spellings.

    Without `attributes` they need operators and little else.

    >>> from hypothesis import given
    >>> from tamis.language.condition import Language
    >>> @given(conditions())
    ... def law(text):
    ...     assert Language().parse(text).alternatives
    >>> law()
    """
    return st.composite(_condition)(attributes)


def subscriptions(
    *, attributes: bool = True, most: int = 6
) -> SearchStrategy[list[dict[str, Any]]]:
    """Returns a handful of subscriptions with ids of their own, some with other keys.

    >>> from hypothesis import given
    >>> @given(subscriptions(attributes=False))
    ... def law(entries):
    ...     assert len({entry["id"] for entry in entries}) == len(entries)
    >>> law()
    """
    return st.composite(_subscriptions)(attributes, most)


def _subscriptions(draw: DrawFn, attributes: bool, most: int) -> list[dict[str, Any]]:
    rest: tuple[dict[str, Any], ...] = ({}, {}, {"priority": 1}, {"note": ["é", None]})
    return [
        {"id": f"s{at + 1}", "where": _condition(draw, attributes), **one_of(draw, rest)}
        for at in several(draw, 1, most)
    ]


def _condition(draw: DrawFn, attributes: bool) -> str:
    terms = [_conjunction(draw, attributes) for _ in several(draw, 1, 3)]
    text = _either(draw, terms)
    match one_of(draw, ("", "", "", "", "", "and", "or")):
        case "and":
            return f"({text}){one_of(draw, _ANDS)}{_filled(draw, '<truth>(<key>)')}"
        case "or":
            return f"({text}){one_of(draw, _ORS)}odd(?x)"
        case _:
            return text


def _either(draw: DrawFn, terms: Sequence[tuple[str, bool]]) -> str:
    """Returns the terms as an `or`; those with a comma in parentheses, others at times."""
    if len(terms) == 1:
        return terms[0][0]
    return one_of(draw, _ORS).join(
        f"({text})" if open and ("," in text or one_of(draw, (False, True))) else text
        for text, open in terms
    )


def _conjunction(draw: DrawFn, attributes: bool) -> tuple[str, bool]:
    """Returns a conjunction, and whether its parts stand without brackets around them."""
    groups = _EVERYTHING if attributes else _ASKING
    parts = [_filled(draw, part) for _ in several(draw, 1, 3) for part in one_of(draw, groups)]
    if one_of(draw, (False, False, False, True)):
        return f"{{{', '.join(parts)}}}", False
    return one_of(draw, _ANDS).join(parts), True


def _filled(draw: DrawFn, template: str) -> str:
    """Returns the template with something in each blank."""

    def fill(blank: re.Match[str]) -> str:
        if blank.group(1) == "attribute":
            return clause_text(_writable(draw))
        return str(one_of(draw, _BLANKS[blank.group(1)]))

    return _BLANK.sub(fill, template)


def _writable(draw: DrawFn) -> Clause:
    """Returns a clause that a text can say: infinite numbers cannot be written."""
    attribute, op, value = draw_clause(draw)
    if any(isinstance(each, float) and math.isinf(each) for each in _constants(value)):
        return attribute, "exists", None
    return attribute, op, value


def _constants(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (list, tuple)) else (value,)


def clause_text(clause: Clause) -> str:
    """Returns a clause as a subscription writes it.

    >>> clause_text(("Camera ID", "in [)", (3, 2.5)))
    '`Camera ID` in [3, 2.5)'
    """
    attribute, op, value = clause
    name = f"`{attribute}`" if " " in attribute else attribute
    if op in ("exists", "not exists"):
        return f"{op}({name})"
    words = [_constant_text(each) for each in _constants(value)]
    if op == "between" and isinstance(value[0], str):
        return f"{name} between {words[0]} and {words[1]}"
    if op == "between" or op.startswith("in "):
        opening, closing = ("[", "]") if op == "between" else (op[3], op[4])
        return f"{name} in {opening}{words[0]}, {words[1]}{closing}"
    if isinstance(value, list):
        return f"{name} {op} {{{', '.join(words)}}}"
    return f"{name} {op} {words[0]}"


def _constant_text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
