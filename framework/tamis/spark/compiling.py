"""How subscriptions get to the workers: compiled once into folders, sent as one archive or shared.

In local mode all workers see the folders where they are. Elsewhere Spark sends them to every
machine, once a job. Operators travel by name where they can be imported and by value elsewhere.
"""

from __future__ import annotations

import shutil
import tempfile
import uuid
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tamis.catalog.sharding import Cut, cut_of
from tamis.event.clock import zone_of
from tamis.limits import DEFAULT_LIMITS, Limits
from tamis.matcher import DEFAULT_INDEX, DEFAULT_PLANNER, Matcher
from tamis.operators import OperatorRecord
from tamis.operators.shipping import packed
from tamis.spark.held import Holder, MatchTask, holder_of, key_of
from tamis.statistics import Statistics

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Compiled:
    """Subscriptions ready to be matched by workers; its folders go when nobody needs it."""

    def __init__(
        self,
        matcher: Matcher,
        *,
        index: str = DEFAULT_INDEX,
        planner: str = DEFAULT_PLANNER,
        statistics: Statistics | None = None,
        workers: int = 1,
        in_flight: int | None = None,
        shards: int = 1,
        limits: Limits = DEFAULT_LIMITS,
        time_zone: str | None = None,
    ) -> None:
        zone_of(time_zone)
        self.subscriptions = len(matcher)
        self.cut: Cut | None = None
        self.folder = Path(tempfile.mkdtemp(prefix="tamis-compiled-"))
        self._remove = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        records = list(matcher.operators.records.values())
        parts = [matcher]
        if shards > 1:
            self.cut = cut_of(matcher._catalog, shards)
            parts = self._parts(matcher, self.cut, records, index, limits)
        self.fingerprints = tuple(
            part.save(self.folder / f"shard-{at}") for at, part in enumerate(parts)
        )
        self._settings: dict[str, Any] = {
            "operators": packed(_called(matcher, records)),
            "planner": planner,
            "statistics": statistics,
            "workers": workers,
            "in_flight": in_flight,
            "limits": limits,
            "time_zone": time_zone,
        }
        self._sent: dict[str, Any] = {}

    @staticmethod
    def _parts(
        matcher: Matcher, cut: Cut, records: Sequence[OperatorRecord], index: str, limits: Limits
    ) -> list[Matcher]:
        import warnings

        found = []
        for ids in cut.ids:
            part = Matcher(records, index=index, learning=False, limits=limits)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # they were given for the whole
                part.subscribe_many(_entry(matcher, id) for id in ids)
            found.append(part)
        return found

    def task(self, archive: str | None = None) -> MatchTask:
        """What workers are told."""
        names = tuple(f"shard-{at}" for at in range(len(self.fingerprints)))
        folders = names if archive else tuple(str(self.folder / name) for name in names)
        return MatchTask(folders, self.fingerprints, archive, **self._settings)

    def sent(self, spark: SparkSession) -> Callable[[], Holder]:
        """A function by which workers of a session come to what they hold."""
        context = spark.sparkContext
        known = self._sent.get(context.applicationId)
        if known is None:
            archive = None
            if not str(context.master).startswith("local["):
                archive = f"tamis-{uuid.uuid4().hex}"
                packed_ = shutil.make_archive(str(self.folder / archive), "zip", self.folder)
                context.addArchive(f"{packed_}#{archive}")
            content = self.task(archive).packed()
            known = self._sent[context.applicationId] = key_of(content), context.broadcast(content)
        key, broadcast = known
        return lambda: holder_of(key, broadcast.value)


def compiled_of(
    subscriptions: Iterable[Mapping[str, Any] | str],
    operators: Iterable[object] | None,
    **settings: Any,
) -> Compiled:
    """Compiles subscriptions; `SubscriptionError` names the bad ones."""
    index = settings.get("index", DEFAULT_INDEX)
    limits = settings.get("limits", DEFAULT_LIMITS)
    also = settings.pop("also", ())
    matcher = Matcher(operators, also=also, index=index, limits=limits)
    matcher.subscribe_many(
        {"where": each} if isinstance(each, str) else each for each in subscriptions
    )
    return Compiled(matcher, **settings)


def _called(matcher: Matcher, records: Sequence[OperatorRecord]) -> list[OperatorRecord]:
    """The operators that are called: others need not be able to travel."""
    called = {call.specification.name for call in matcher._catalog.calls}
    return [record for record in records if record.specification.name in called]


def _entry(matcher: Matcher, id: str) -> dict[str, Any]:
    subscribed = matcher.subscription(id)
    return {**subscribed.data, "id": id, "where": subscribed.text}
