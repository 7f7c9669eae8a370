"""Tells Prometheus how a server is doing; numbers are read when they are asked for."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client import CollectorRegistry
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from tamis.server.entries import LogState
from tamis.server.service import Service
from tamis.server.writer import LogWriter


class _Numbers(Collector):
    def __init__(self, service: Service) -> None:
        self._service = service

    def collect(self) -> Iterable[Metric]:
        """Yields all numbers there are now."""
        service = self._service
        ready = service.why_not_ready is None
        yield GaugeMetricFamily("tamis_ready", "Whether the server is ready.", value=int(ready))
        events = CounterMetricFamily(
            "tamis_events",
            "Events by what became of the request: accepted, refused (bad), shed; offered is all.",
            labels=["outcome"],
        )
        for outcome in ("offered", "accepted", "refused", "shed"):
            events.add_metric([outcome], service.counts[outcome])
        yield events
        if ready:
            yield from self._log()
            yield from self._matching()

    def _log(self) -> Iterable[Metric]:
        log = self._service.log
        state, counts = log.state, log.reading.counts()
        subscriptions = counts.pop("subscriptions")
        disabled = counts.pop("webhooks_disabled")
        for name, about, value in (
            ("position", "The last position of the log.", state.position),
            ("cursor", "The position up to which all is decided.", state.cursor),
            ("floor", "The first position that is kept.", state.floor),
            ("lag_entries", "Entries that wait to be decided.", state.position - state.cursor),
            ("lag_seconds", "How long the oldest of these waits.", self._lag_seconds(state)),
            ("queue", "Changes that wait for the disk.", log.writer.waiting),
            (
                "queue_bytes",
                "Bytes of requests that are read, or wait for it.",
                self._service.waiting_bytes,
            ),
            ("subscriptions", "Subscriptions that are live.", subscriptions),
            ("webhooks_disabled", "Webhooks that nothing is sent to any more.", disabled),
        ):
            yield GaugeMetricFamily(f"tamis_{name}", about, value=value)
        deliveries = GaugeMetricFamily(
            "tamis_deliveries",
            "Deliveries of the subscriptions there are: due = delivered + pending + dead + gap.",
            labels=["state"],
        )
        for name, value in counts.items():
            deliveries.add_metric([name], value)
        yield deliveries
        attempts = CounterMetricFamily(
            "tamis_webhook_attempts",
            "Deliveries sent to webhooks, by what became of them.",
            labels=["outcome"],
        )
        for outcome in ("taken", "failed"):
            attempts.add_metric([outcome], self._service.webhooks.counts[outcome])
        yield attempts
        yield from self._flushes(log.writer)
        yield CounterMetricFamily(
            "tamis_changes", "Changes in these transactions.", value=log.writer.changes
        )

    def _lag_seconds(self, state: LogState) -> float:
        log = self._service.log
        if state.cursor >= state.position:
            return 0.0
        came = log.reading.time_at(state.cursor + 1)
        return 0.0 if came is None else max(0.0, log.clock() - came)

    def _flushes(self, writer: LogWriter) -> Iterable[Metric]:
        """Returns what flushes take, beside what they take here at the least."""
        yield CounterMetricFamily(
            "tamis_commits", "Transactions, each of a flush.", value=writer.commits
        )
        within = [(str(bound), count) for bound, count in writer.commits_within.items()]
        flushes = HistogramMetricFamily("tamis_flush_seconds", "Seconds of a flush.")
        flushes.add_metric([], [*within, ("+Inf", writer.commits)], sum_value=writer.commit_seconds)
        yield flushes
        if self._service.flush_floor is not None:
            yield GaugeMetricFamily(
                "tamis_flush_floor_seconds",
                "Seconds of a flush at the least, measured at the start.",
                value=self._service.flush_floor,
            )

    def _matching(self) -> Iterable[Metric]:
        matching = self._service.matching
        account = matching.account
        for name, about, value in (
            ("decided", "Events that were decided.", account.events),
            ("matches", "Matches.", account.matches),
            ("undetermined", "Verdicts left open.", account.undetermined),
            ("failures", "Events that no matcher could take.", matching.failures),
        ):
            yield CounterMetricFamily(f"tamis_{name}", about, value=value)
        operators = list(account.operators.items())
        for name, about, field in (
            ("calls", "Calls that were made.", "calls"),
            ("failed", "Calls that failed.", "failed"),
            ("memoized", "Calls whose answer was remembered.", "memoized"),
            ("spared_calls", "Predicates of candidates that needed no call.", "spared"),
            ("operator_seconds", "Seconds of calls.", "seconds"),
        ):
            family = CounterMetricFamily(f"tamis_{name}", about, labels=["operator"])
            for operator, each in operators:
                family.add_metric([operator], each[field])
            yield family
        stages = CounterMetricFamily(
            "tamis_stage_seconds", "Seconds of matching, by stage.", labels=["stage"]
        )
        for stage, spent in list(account.seconds.items()):
            stages.add_metric([stage], spent)
        yield stages


def registry_of(service: Service) -> CollectorRegistry:
    """Returns what Prometheus reads of a service."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Numbers(service))
    return registry
