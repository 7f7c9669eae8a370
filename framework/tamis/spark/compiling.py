"""Compiles subscriptions for the workers: once, into folders that travel as a parcel.

Operators travel by name where they can be imported and by value elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from tamis.catalog.sharding import Sharding, cut_of
from tamis.engine.window import checked_in_flight
from tamis.errors import SparkError
from tamis.event.clock import zone_of
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.matcher import DEFAULT_INDEX, Matcher
from tamis.nearest import did_you_mean
from tamis.operators import OperatorRecord
from tamis.operators.shipping import packed
from tamis.spark.held import Holder, MatchTask, holder_of, shard_name
from tamis.spark.working import Parcel, checked_entries
from tamis.words import listed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_OF_MATCHERS = (
    "also",
    "index",
    "planner",
    "statistics",
    "workers",
    "limits",
    "time_zone",
    "memo_bytes",
    "types",
)
_SETTINGS = (*_OF_MATCHERS, "in_flight", "shards")


class CompiledSubscriptions:
    """Subscriptions ready to be matched by workers; its folders go when nobody needs it."""

    def __init__(
        self,
        matcher: Matcher,
        *,
        index: str = DEFAULT_INDEX,
        in_flight: int | None = None,
        shards: int = 1,
        limits: Limits = DEFAULT_LIMITS,
        **settings: Any,
    ) -> None:
        """Compiles what a matcher has; `settings` are those of the workers' matchers."""
        zone_of(settings.get("time_zone"))
        _check_no_policies(matcher)
        self.subscriptions = len(matcher)
        self.cut: Sharding | None = None
        self.parcel = Parcel()
        folder = self.parcel.folder
        records = list(matcher.operators.records.values())
        parts = [matcher]
        if shards > 1:
            self.cut = cut_of(matcher._catalog, shards)
            parts = self._parts(matcher, self.cut, records, index, limits)
        self.fingerprints = tuple(
            part.save(folder / shard_name(at)) for at, part in enumerate(parts)
        )
        operators = packed(_called(matcher, records))
        settings |= {"limits": limits, "types": tuple(settings.get("types", ()))}
        self.key = MatchTask(self.fingerprints, operators, in_flight, settings).save(folder)

    @staticmethod
    def _parts(
        matcher: Matcher,
        cut: Sharding,
        records: Sequence[OperatorRecord],
        index: str,
        limits: Limits,
    ) -> list[Matcher]:
        found = []
        for ids in cut.ids:
            part = Matcher(records, index=index, learning=False, limits=limits)
            entries = (_entry(matcher, id) for id in ids)
            part._insert(entries, False, None, is_again=True)  # warnings were given for the whole
            found.append(part)
        return found

    def sent(self, spark: SparkSession) -> Callable[[], Holder]:
        """Returns a function by which workers of a session come to what they hold."""
        return partial(holder_of, self.key, self.parcel.sent(spark))


def compiled_of(
    subscriptions: Iterable[Mapping[str, Any] | str],
    operators: Iterable[object] | None,
    **settings: Any,
) -> CompiledSubscriptions:
    """Compiles subscriptions, and checks all settings; `SubscriptionError` names the bad ones."""
    for name in settings:
        if name not in _SETTINGS:
            raise SparkError(f"there is no setting {name!r}{did_you_mean(name, _SETTINGS)}")
    shards = settings.get("shards", 1)
    if not isinstance(shards, int) or shards < 1:
        raise SparkError(f"shards are a number of parts, 1 or more, not {shards!r:.80}")
    if settings.get("in_flight") is not None:
        checked_in_flight(settings["in_flight"])
    here = {name: settings[name] for name in _OF_MATCHERS if settings.get(name) is not None}
    settings.pop("also", None)
    with Matcher(operators, learning=False, **here) as matcher:
        matcher.subscribe_many(
            {"where": each} if isinstance(each, str) else each
            for each in checked_entries(subscriptions)
        )
        return CompiledSubscriptions(matcher, **settings)


def _check_no_policies(matcher: Matcher) -> None:
    """Refuses delivery policies: they follow events in order, and workers match parts of them."""
    policed = list(matcher._catalog.policies.live)
    if policed:
        raise SparkError(
            f"delivery policies follow events in order, which Spark's workers do not: leave out "
            f"'deliver' of {listed(policed, 3)}, or match in one process (tamis match)"
        )


def _called(matcher: Matcher, records: Sequence[OperatorRecord]) -> list[OperatorRecord]:
    """Returns the operators that are called: others need not be able to travel."""
    called = {call.specification.name for call in matcher._catalog.calls}
    return [record for record in records if record.specification.name in called]


def _entry(matcher: Matcher, id: str) -> dict[str, Any]:
    subscribed = matcher.subscription(id)
    return {**subscribed.data, "id": id, "where": subscribed.text}
