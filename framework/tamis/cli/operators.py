"""`tamis operators`: which operators there are, and what each takes, reads and costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tamis.cli.options import Debug, Json, Operators

if TYPE_CHECKING:
    from tamis.cli.loading import Found

_NONE = (
    "There is no operator. Install a plugin that brings some (pip install …), or name a module or "
    "a .py file with functions under @tamis.operator: --operators my_operators.py"
)


def operators(operators: Operators = None, json: Json = False, debug: Debug = False) -> None:
    """List the operators: what they take, what they read from the event, what they cost."""
    from tamis.cli.loading import find_operators
    from tamis.cli.saying import put, put_json
    from tamis.cli.tables import wrapped

    found = [each for _, each in sorted(find_operators(operators).items())]
    if json:
        put_json([_as_dict(each) for each in found])
    elif not found:
        put(wrapped(_NONE))
    else:
        put("\n\n".join(map(_text, found)))


def _as_dict(found: Found) -> dict[str, Any]:
    known = found.record.specification
    return {
        "name": known.name,
        "signature": known.signature,
        "description": known.description,
        "inputs": known.inputs,
        "optional_inputs": known.optional_inputs,
        "outputs": known.outputs,
        "version": known.version,
        "cost_seconds": known.cost_seconds,
        "marginal_cost_seconds": known.marginal_cost_seconds,
        "timeout": known.timeout,
        "deterministic": known.deterministic,
        "source": found.source,
    }


def _text(found: Found) -> str:
    """An operator as a paragraph."""
    from tamis.cli.tables import duration, wrapped

    known = found.record.specification
    inputs = "the whole event" if known.inputs is None else ", ".join(known.inputs) or "nothing"
    if known.optional_inputs:
        inputs += f" (optional: {', '.join(known.optional_inputs)})"
    cost = f"about {duration(known.expected_cost_seconds)} a call"
    if known.cost_seconds is None:
        cost = "unknown"
    facts = {
        "reads": inputs,
        "gives": ", ".join(known.outputs) or "true or false",
        "cost": cost,
        "timeout": "none" if known.timeout is None else duration(known.timeout),
        "version": known.version,
        "source": found.source,
    }
    if not known.outputs and known.inputs is None:
        facts["gives"] = "whatever it is asked for"
    lines = [known.signature]
    if known.description:
        lines.append(wrapped(known.description, "    "))
    lines.extend(wrapped(f"{name:<9}{words}", "    ", " " * 13) for name, words in facts.items())
    return "\n".join(lines)
