"""Lists operators, and what each takes, reads, costs and needs: `tamis operators`."""

from __future__ import annotations

from typing import Annotated, Any

from tamis.cli.failures import MisuseError
from tamis.cli.loading import LoadedOperator, find_operators
from tamis.cli.options import Debug, Json, Operators, argument
from tamis.cli.saying import put, put_json
from tamis.cli.tables import wrapped
from tamis.language.values import KIND_NAMES
from tamis.nearest import did_you_mean
from tamis.operators import Sample
from tamis.operators.specification import Parameter, Resource, Specification
from tamis.words import counted, duration

_NONE = (
    "There is no operator. Install a plugin that brings some (pip install …), or name a module or "
    "a .py file with functions under @tamis.operator: --operators my_operators.py"
)
_INDENT, _LABEL = "    ", 9
_TOLD = (
    *("name", "signature", "description", "parameters", "variadic", "inputs", "optional_inputs"),
    *("outputs", "preparations", "version", "cost_seconds", "marginal_cost_seconds", "timeout"),
    *("deterministic", "isolation", "concurrency", "calls_per_second", "resources", "retries"),
    *("extra", "modules", "missing", "source"),
)
_PREPARATION = ("name", "inputs", "cost_seconds", "timeout", "retries")
_RESOURCE = ("name", "concurrency", "calls_per_second")


def operators(
    name: Annotated[str | None, argument("[NAME]", "One operator, with its samples.")] = None,
    operators: Operators = None,
    json: Json = False,
    debug: Debug = False,
) -> None:
    """List the operators: what each takes, reads, costs and needs."""
    found = find_operators(operators)
    if name is not None:
        one = _one(name, found)
        samples, why_none = _samples(one)
        if json:
            shown = [_sample_as_dict(sample) for sample in samples]
            put_json({**_as_dict(one), "samples": shown})
        else:
            put("\n".join([_text(one), *_sample_lines(samples, why_none)]))
    elif json:
        put_json([_as_dict(each) for _, each in sorted(found.items())])
    elif not found:
        put(wrapped(_NONE))
    else:
        put("\n\n".join(_text(each) for _, each in sorted(found.items())))


def _one(name: str, found: dict[str, LoadedOperator]) -> LoadedOperator:
    if name not in found:
        says = {each: found[each].record.specification.description for each in found}
        hint = did_you_mean(name, found, says) or "; tamis operators lists them"
        raise MisuseError(f"unknown operator {name}{hint}")
    return found[name]


def _samples(found: LoadedOperator) -> tuple[list[Sample], str]:
    """Returns its samples, or why there are none."""
    missing = found.record.specification.missing
    if missing is not None:
        return [], missing
    try:
        return list(found.record.factory().samples()), "none"
    except Exception as failure:
        return [], f"it cannot be made: {type(failure).__name__}: {failure}"


def _sample_as_dict(sample: Sample) -> dict[str, Any]:
    return {
        "predicate": sample.predicate,
        "event": {name: _plain(value) for name, value in sample.event.items()},
        "answer": None if sample.answer is ... else _plain(sample.answer),
    }


def _plain(value: object) -> object:
    """Returns a value as JSON holds it, or how Python writes it."""
    import json

    from tamis.testing.conformance.breach import shown

    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        return shown(value)
    return value


def _sample_lines(samples: list[Sample], why_none: str) -> list[str]:
    label = f"{'samples':<{_LABEL}}"
    if not samples:
        return [wrapped(f"{label}{why_none}", _INDENT, " " * (len(_INDENT) + _LABEL))]
    from tamis.testing.conformance.breach import event_text

    lines = []
    for sample in samples:
        answer = "" if sample.answer is ... else f" is {sample.answer!r}"
        words = f"{label}{sample.predicate}{answer} for {event_text(sample.event)}"
        lines.append(wrapped(words, _INDENT, " " * (len(_INDENT) + _LABEL + 2)))
        label = " " * _LABEL
    return lines


def _as_dict(found: LoadedOperator) -> dict[str, Any]:
    known = found.record.specification
    told = {
        "parameters": [
            {
                "name": parameter.name,
                "kinds": _kinds(parameter),
                "whole": parameter.whole,
                "required": parameter.required,
                "output": parameter.name in known.outputs,
                "variable": parameter.variable,
            }
            for parameter in known.parameters
        ],
        "preparations": [
            {name: getattr(each, name) for name in _PREPARATION} for each in known.preparations
        ],
        "resources": [
            {name: getattr(each, name) for name in _RESOURCE} for each in known.resources
        ],
        "source": found.source,
    }
    return {name: told[name] if name in told else getattr(known, name) for name in _TOLD}


def _kinds(parameter: Parameter) -> list[str] | None:
    """Returns the kinds of constants that a parameter takes, `None` for any."""
    if parameter.kinds is None:
        return None
    return [KIND_NAMES[kind] for kind in sorted(parameter.kinds)]


def _text(found: LoadedOperator) -> str:
    """Returns an operator as a paragraph."""
    known = found.record.specification
    inputs = "the whole event" if known.inputs is None else ", ".join(known.inputs) or "nothing"
    if inputs == "nothing" and known.preparations:
        inputs = "what is prepared"
    if known.optional_inputs:
        inputs += f" (optional: {', '.join(known.optional_inputs)})"
    cost = f"about {duration(known.expected_cost_seconds)} a call"
    if known.cost_seconds is None:
        cost = "unknown"
    facts = {
        "takes": ", ".join(_takes(known)) or "nothing",
        "reads": inputs,
        "prepares": ", then ".join(
            f"{each.name} (about {duration(each.cost_seconds)}; reads "
            f"{'the whole event' if each.inputs is None else ', '.join(each.inputs) or 'nothing'})"
            for each in known.preparations
        ),
        "gives": _gives(known),
        "cost": cost,
        "timeout": "none" if known.timeout is None else duration(known.timeout),
        "runs": _runs(known),
        "shares": "; ".join(", ".join([each.name, *_limits(each)]) for each in known.resources),
        "needs": _needs(known),
        "version": known.version,
        "source": found.source,
    }
    lines = [known.signature]
    if known.description:
        lines.append(wrapped(known.description, _INDENT))
    lines.extend(
        wrapped(f"{name:<{_LABEL}}{words}", _INDENT, " " * (len(_INDENT) + _LABEL))
        for name, words in facts.items()
        if words
    )
    return "\n".join(lines)


def _gives(known: Specification) -> str:
    """Describes its answers; undeclared outputs may be variables at untyped places."""
    if known.outputs:
        return ", ".join(known.outputs)
    if known.variadic or any(each.kinds is None or each.variable for each in known.parameters):
        return "true or false, or values of variables where it takes them"
    return "true or false"


def _takes(known: Specification) -> list[str]:
    """Describes its places, each with what may stand there."""
    words = []
    for parameter in known.parameters:
        kinds = _kinds(parameter)
        what = "anything" if kinds is None else f"a {' or a '.join(kinds)}"
        if parameter.whole:
            what = "a whole number"
        if parameter.name in known.outputs or parameter.variable:
            what = f"a variable, or {what}"
        optional = "" if parameter.required else ", may be left out"
        words.append(f"{parameter.name} ({what}{optional})")
    return [*words, *(["any number more"] if known.variadic else [])]


def _runs(known: Specification) -> str:
    """Describes where it runs and within which limits; empty where there is nothing to say."""
    words = [] if known.isolation == "inline" else [f"in a {known.isolation}"]
    words += _limits(known)
    if known.retries:
        words.append(f"tried again up to {counted(known.retries, 'time')}")
    return ", ".join(words)


def _limits(known: Specification | Resource) -> list[str]:
    words = []
    if known.concurrency is not None:
        words.append(f"at most {known.concurrency} at once")
    if known.calls_per_second is not None:
        words.append(f"at most {known.calls_per_second:g} a second")
    return words


def _needs(known: Specification) -> str:
    """Names what pip has to bring, and whether it has, and the setting that is missing."""
    what = known.extra or " and ".join(known.modules)
    if known.missing is None:
        return f"{what} (installed)" if what else ""
    _, _, how = known.missing.partition(": ")
    if how == known.lacking:
        return f"{f'{what} (installed), and ' if what else ''}a setting: {how}"
    return f"{what} (not installed{': ' + how if how else ''})"
