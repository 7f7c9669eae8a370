"""Checks a file of subscriptions, every error at once: `tamis check`."""

from __future__ import annotations

from typing import Annotated

from tamis.cli.failures import DONE, UNUSABLE
from tamis.cli.loading import find_operators, hints
from tamis.cli.options import (
    Debug,
    Json,
    Operators,
    Rename,
    Sampled,
    TimeZone,
    argument,
    renamed_of,
)
from tamis.cli.saying import put, put_json, say
from tamis.words import counted


def check(
    subscriptions: Annotated[
        str, argument("FILE", "The subscriptions, one a line; - for standard input.")
    ],
    operators: Operators = None,
    events: Sampled = None,
    time_zone: TimeZone = None,
    rename: Rename = None,
    json: Json = False,
    debug: Debug = False,
) -> int:
    """Check a file of subscriptions, and list all its errors.

    Warnings tell of what is accepted and probably not meant; only errors make the status 1. With
    --events they tell of attributes that none of the first 10,000 events has, too.
    """
    from tamis.catalog.subscription_lines import ERROR, read_subscriptions
    from tamis.cli.checking import check_lines
    from tamis.operators.asking import Operators as Known

    known = Known(found.record for found in find_operators(operators).values())
    lines = read_subscriptions(subscriptions)
    checked = check_lines(lines, known, events, time_zone=time_zone, renamed=renamed_of(rename))
    errors = [finding for finding in checked.findings if finding.severity == ERROR]
    doubts = [finding for finding in checked.findings if finding.severity != ERROR]
    if json:
        put_json(
            {
                "file": lines.file,
                "subscriptions": checked.subscriptions,
                "alternatives": checked.alternatives,
                "operator_predicates": checked.operator_predicates,
                "errors": [finding.as_dict() for finding in errors],
                "warnings": [finding.as_dict() for finding in doubts],
            }
        )
    else:
        for finding in checked.findings:
            say(str(finding))
        for hint in hints(errors, len(known.records)):
            say(hint)
        counts = (
            counted(checked.subscriptions, "subscription"),
            counted(checked.alternatives, "alternative"),
            counted(checked.operator_predicates, "distinct operator predicate"),
            counted(len(errors), "error"),
            counted(len(doubts), "warning"),
        )
        put(f"{lines.file}: {', '.join(counts)}")
    return UNUSABLE if errors else DONE
