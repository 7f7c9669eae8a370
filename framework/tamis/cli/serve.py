"""Runs the match server: `tamis serve`."""

from __future__ import annotations

import errno
import select
import signal
import socket
from pathlib import Path
from typing import Annotated, Any

import typer

from tamis.cli import options
from tamis.cli.failures import MisuseError
from tamis.cli.loading import Setup
from tamis.cli.options import option
from tamis.cli.saying import say
from tamis.log import log
from tamis.nearest import did_you_mean

_PORT = 8484
_LOCAL = ("127.0.0.1", "::1", "localhost")


class Signals:
    """Hears of signals of this process, from now on, and waits for one in the main thread.

    The interpreter writes a byte as a signal comes, which wakes who waits. An event that a handler
    sets would not: the signal may come just before the wait, or while that holds the event's lock.
    """

    def __init__(self, *numbers: int) -> None:
        self._numbers = numbers
        self._heard, self._hearing = socket.socketpair()
        self._hearing.setblocking(False)
        signal.set_wakeup_fd(self._hearing.fileno(), warn_on_full_buffer=False)
        for number in numbers:
            signal.signal(number, lambda *about: None)

    def wait(self, seconds: float | None = None) -> bool:
        """Waits until one has come, for so long at most; whether one has."""
        while select.select([self._heard], [], [], seconds)[0]:
            if self._heard.recv(1, socket.MSG_PEEK)[0] in self._numbers:
                return True
            self._heard.recv(1)
        return False


def _from_file(context: typer.Context, file: str | None) -> str | None:
    """Takes the settings of a file where neither a flag nor the environment says otherwise."""
    import tomllib

    context.auto_envvar_prefix = "TAMIS"  # those that other commands have too

    if file is None:
        return None
    try:
        read = tomllib.loads(Path(file).read_text(encoding="utf-8"))
    except OSError as bad:
        raise MisuseError(f"--config {file}: {bad.strerror or bad}") from bad
    except ValueError as bad:
        raise MisuseError(f"--config {file} is not valid TOML: {bad}") from bad
    known = {each.name for each in context.command.params if each.name} - {"config", "debug"}
    found = {name.replace("-", "_"): value for name, value in read.items()}
    for name in found.keys() - known:
        raise MisuseError(f"--config {file}: unknown setting {name}{did_you_mean(name, known)}")
    context.default_map = {**(context.default_map or {}), **found}
    return file


def _keep_seconds(text: str | None) -> float | None:
    from tamis.language.durations import duration_seconds

    try:
        return None if text is None else float(duration_seconds(text))
    except ValueError as bad:
        raise MisuseError(f"--keep-for: {bad}") from None


Host = Annotated[str, option("ADDRESS", "The address to listen on.", "--host", envvar="TAMIS_HOST")]
Port = Annotated[
    int, option("N", "The port; 0 takes a free one.", envvar="TAMIS_PORT", min=0, max=65_535)
]
Data = Annotated[
    str, option("DIR", "The folder of the log, for one server at a time.", envvar="TAMIS_DATA")
]
RefreshSeconds = Annotated[
    float | None,
    option(
        "SECONDS",
        "How often to check whether places and other sources of operators have changed; by "
        "default never.",
        envvar="TAMIS_REFRESH_SECONDS",
        min=1,
    ),
]
Subscriptions = Annotated[
    str | None,
    option(
        "DIR",
        "A folder of .jsonl files: the server subscribes and unsubscribes as these files change.",
    ),
]
PublishKey = Annotated[
    str | None,
    option(
        "KEY",
        "The key that publishers must send; without one anybody may publish.",
        envvar="TAMIS_PUBLISH_KEY",
    ),
]
AdminKey = Annotated[
    str | None,
    option("KEY", "A key that may read everything, and change nothing.", envvar="TAMIS_ADMIN_KEY"),
]
KeepFor = Annotated[
    str | None,
    option("DURATION", "How long events are kept; by default for ever.", envvar="TAMIS_KEEP_FOR"),
]
KeepBytes = Annotated[
    int | None,
    option(
        "N",
        "The most bytes of kept events; the oldest ones go first.",
        envvar="TAMIS_KEEP_BYTES",
        min=0,
    ),
]
TraceBytes = Annotated[
    int | None,
    option(
        "N",
        "The most bytes of operators' answers that are kept, for explanations and backtests.",
        envvar="TAMIS_TRACE_BYTES",
        min=0,
    ),
]
MostLagSeconds = Annotated[
    float,
    option(
        "SECONDS",
        "The longest wait of an event before it is matched, estimated from the latest ones; a "
        "publisher whose event would wait longer gets 429.",
        envvar="TAMIS_MOST_LAG_SECONDS",
        min=0.1,
    ),
]
MostSubscriptions = Annotated[
    int,
    option(
        "N",
        "The most live subscriptions; who would add another one over HTTP gets 429.",
        envvar="TAMIS_MOST_SUBSCRIPTIONS",
        min=1,
    ),
]
OperatorTimeout = Annotated[
    float,
    option(
        "SECONDS",
        "The timeout of calls to operators that are not bundled and declare none; 0 for no "
        "timeout.",
        envvar="TAMIS_OPERATOR_TIMEOUT",
        min=0,
    ),
]
WebhookAllow = Annotated[
    list[str] | None,
    option(
        "NETWORK…",
        "Private networks that webhooks may call, such as 10.1.0.0/16.",
        envvar="TAMIS_WEBHOOK_ALLOW",
    ),
]
LogFormat = Annotated[str, option("FORM", "The form of log lines: text, or json.")]
Config = Annotated[
    str | None,
    option(
        "FILE",
        "Settings as TOML, by the names of the options; flags and the environment (TAMIS_PORT, "
        "TAMIS_WORKERS, …) take precedence.",
        envvar="TAMIS_CONFIG",
        is_eager=True,
        callback=_from_file,
    ),
]


def serve(
    host: Host = _LOCAL[0],
    port: Port = _PORT,
    data: Data = "tamis-data",
    operators: options.Operators = None,
    index: options.Index = None,
    planner: options.Planner = None,
    statistics: options.StatisticsFolder = None,
    follow_statistics: options.FollowStatistics = False,
    refresh_seconds: RefreshSeconds = None,
    subscriptions: Subscriptions = None,
    workers: options.Workers = 1,
    operator_timeout: OperatorTimeout = 30.0,
    memo_bytes: options.MemoBytes = None,
    time_zone: options.TimeZone = None,
    publish_key: PublishKey = None,
    admin_key: AdminKey = None,
    keep_for: KeepFor = None,
    keep_bytes: KeepBytes = None,
    trace_bytes: TraceBytes = None,
    most_lag_seconds: MostLagSeconds = 2.0,
    most_subscriptions: MostSubscriptions = 1_000_000,
    webhook_allow: WebhookAllow = None,
    log_format: LogFormat = "text",
    config: Config = None,
    debug: options.Debug = False,
) -> None:
    """Serve subscriptions and matches over HTTP.

    Everything is kept in a log: what was answered with 201 or 202 is on disk. SIGTERM ends the
    server once all accepted requests are answered.
    """
    keep_seconds = _keep_seconds(keep_for)
    for name, key in (("--publish-key", publish_key), ("--admin-key", admin_key)):
        if key is not None and not key.strip():
            raise MisuseError(f"{name} is empty")
    options.check_followed(statistics, follows=follow_statistics)
    setup = Setup(
        operators, index, planner, statistics, time_zone=time_zone, memo_bytes=memo_bytes,
        operator_timeout=operator_timeout or None,
    )  # fmt: skip
    _run(
        host, port, lambda: setup.matcher(workers=workers), data=Path(data),
        publish_key=publish_key, admin_key=admin_key,
        keep_seconds=keep_seconds, keep_bytes=keep_bytes, trace_bytes=trace_bytes,
        most_lag_seconds=most_lag_seconds, most_subscriptions=most_subscriptions,
        subscriptions=None if subscriptions is None else Path(subscriptions),
        statistics=Path(statistics) if statistics is not None and follow_statistics else None,
        refresh_seconds=refresh_seconds,
        allowed=webhook_allow or [], form=log_format,
    )  # fmt: skip


def _run(
    host: str, port: int, make_matcher: Any, *, allowed: list[str], form: str, **settings: Any
) -> None:
    """Serves until a signal."""
    from tamis.server.database import sqlite_version

    sqlite_version()
    try:
        from tamis.server.journal import FORMS, write_journal
        from tamis.server.service import ServerSettings
        from tamis.server.serving import Server
        from tamis.server.webhooks.addresses import networks_of
        from tamis.server.webhooks.dispatch import WebhookSettings
    except ImportError as bad:
        raise MisuseError(f"{bad}: pip install 'tamis[server]'") from bad
    try:
        settings["webhooks"] = WebhookSettings(networks_of(allowed))
    except ValueError as bad:
        raise MisuseError(f"--webhook-allow: {bad}") from None
    if form not in FORMS:
        raise MisuseError(f"--log-format is {' or '.join(FORMS)}, not {form}")
    write_journal(form)
    tell = log.info if form == "json" else say
    told = Signals(signal.SIGTERM, signal.SIGINT)
    try:
        server = Server(ServerSettings(**settings), make_matcher, host=host, port=port)
    except OSError as bad:
        hint = "; --port takes another one" if bad.errno == errno.EADDRINUSE else ""
        said = f"cannot listen on {host}:{port}: {bad.strerror or bad}{hint}"
        raise MisuseError(said) from bad
    if host not in _LOCAL and settings["publish_key"] is None:
        say("warning: anybody who reaches this server may publish: --publish-key is not given")
    server.run_until(told.wait, lambda: tell(f"tamis serves {server.url}, from {settings['data']}"))
    tell("what was accepted is finished")
