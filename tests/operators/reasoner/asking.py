"""One event asked in short."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import tamis
from tamis_operators import reasoner


def matcher_of(*wheres: str, **configuration: Any) -> tamis.Matcher:
    matcher = tamis.Matcher(reasoner.operators(**configuration))
    for number, where in enumerate(wheres):
        matcher.subscribe(where, id=str(number))
    return matcher


def solutions(where: str, facts: str, **configuration: Any) -> list[dict[str, Any]] | str:
    """The bindings of a match, `[]` of none, or the reason that it is unknown."""
    result = matcher_of(where, **configuration).match({"facts": facts})
    if result.undetermined:
        return str(result.undetermined[0].reason)
    return list(result.matches[0].bindings) if result.matches else []


def holds(where: str, facts: str, **configuration: Any) -> bool:
    """Whether it matches."""
    found = solutions(where, facts, **configuration)
    assert not isinstance(found, str), found
    return bool(found)


def written(folder: Path, text: str, name: str = "ontology.ttl") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path
