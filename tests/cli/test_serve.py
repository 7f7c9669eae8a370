"""`tamis serve`: its settings, what stops it, and how it ends."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tamis.cli.loading import Setup
from tests.cli.running import Ended, Process

httpx = pytest.importorskip("httpx", reason="pip install 'tamis[server]'")
get, post = partial(httpx.get, timeout=60), partial(httpx.post, timeout=60)

OPERATORS = """
import time
import tamis

@tamis.operator(inputs=("a",))
def slow(event):
    time.sleep(0.01)
    return True
"""


HANGING = """
import threading
import tamis

@tamis.operator(inputs=("a",))
def hangs(event):
    if event["a"] == "hangs":
        threading.Event().wait()
    return True

@tamis.operator(inputs=("a",), timeout=1.0)
def quick(event):
    return True
"""


@contextlib.contextmanager
def serving(
    folder: Path, *options: str, **environment: str
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Runs `tamis serve` in a folder; its address, and the process."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tamis", "serve", "--port", "0", *options],
        cwd=folder,
        env={**os.environ, **environment},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    try:
        said = process.stderr.readline()
        address = re.search(r"tamis serves (http://\S+), from ([^\s\"]+)", said)
        assert address is not None, said + process.stderr.read()
        yield address[1], process
    finally:
        process.kill()
        process.wait()
        process.stderr.close()


def refused(folder: Path, *options: str) -> Ended:
    return Process(folder)("serve", *options)


def test_it_serves_and_finishes_what_it_accepted(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OPERATORS)
    with serving(tmp_path, "--operators", "mine.py", "--data", "log") as (url, process):
        assert get(f"{url}/readyz").json() == {"status": "ready"}
        made = post(f"{url}/subscriptions", json={"where": "slow()"}).json()
        events = [{"a": number} for number in range(100)]
        assert post(f"{url}/events", json=events).status_code == 202
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        assert process.stderr is not None
        assert process.stderr.read() == "what was accepted is finished\n"
    ticket = {"Authorization": f"Bearer {made['ticket']}"}
    with serving(tmp_path, "--operators", "mine.py", "--data", "log") as (url, _):
        assert get(f"{url}/subscriptions/{made['id']}", headers=ticket).json()["due"] == 100


def test_an_operator_that_hangs_holds_up_nobody_for_long(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(HANGING)
    options = ("--operators", "mine.py", "--operator-timeout", "0.3")
    with serving(tmp_path, *options) as (url, _):
        post(f"{url}/subscriptions", json={"where": "hangs()", "id": "s"})
        first = post(f"{url}/events?wait=true", json={"a": "hangs"}).json()
        assert first["events"][0]["undetermined"] == ["s"]
        ends = time.monotonic() + 60
        while True:  # one may be late, too, on a machine that does much beside
            then = post(f"{url}/events?wait=true", json={"a": 1}).json()
            if then["events"][0]["matches"] == ["s"]:
                break
            assert time.monotonic() < ends


def test_operators_that_are_bundled_or_declare_a_timeout_keep_theirs(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(HANGING)
    mine = [str(tmp_path / "mine.py")]
    timeouts = [
        {
            name: record.specification.timeout
            for name, record in setup.matcher().operators.records.items()
        }
        for setup in (
            Setup(mine, None, None, None),
            Setup(mine, None, None, None, operator_timeout=9.0),
        )
    ]
    assert timeouts[1] == {**timeouts[0], "hangs": 9.0}
    assert timeouts[0]["hangs"] is None
    assert timeouts[0]["quick"] == 1.0
    assert None in [timeouts[0][name] for name in timeouts[0].keys() - {"hangs", "quick"}]


def test_flags_go_before_the_environment_and_that_before_a_file(tmp_path: Path) -> None:
    (tmp_path / "tamis.toml").write_text(
        'data = "file"\npublish-key = "file"\nadmin-key = "file"\n'
    )
    settings = {"TAMIS_PUBLISH_KEY": "environment", "TAMIS_DATA": "environment"}
    with serving(tmp_path, "--config", "tamis.toml", "--data", "flag", **settings) as (url, _):
        assert (tmp_path / "flag" / "log.sqlite").exists()
        for key, status in (("file", 403), ("environment", 202)):
            headers = {"Authorization": f"Bearer {key}"}
            assert post(f"{url}/events", json={}, headers=headers).status_code == status
        headers = {"Authorization": "Bearer file"}
        assert get(f"{url}/subscriptions", headers=headers).json() == []


def test_each_option_has_an_environment_variable(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OPERATORS)
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "one.jsonl").write_text('{"id": "a", "where": "slow()"}')
    (tmp_path / "tamis.toml").write_text('operators = ["nowhere.py"]\nadmin-key = "k"')
    settings = {"TAMIS_CONFIG": "tamis.toml", "TAMIS_OPERATORS": "mine.py", "TAMIS_WORKERS": "2"}
    with serving(tmp_path, TAMIS_SUBSCRIPTIONS="own", **settings) as (url, _):
        listed = get(f"{url}/operators").json()
        assert "slow" in [each["name"] for each in listed]
        found = get(f"{url}/subscriptions", headers={"Authorization": "Bearer k"}).json()
        assert [each["id"] for each in found] == ["a"]


def test_the_log_is_json_without_secrets(tmp_path: Path) -> None:
    options = ("--log-format", "json", "--publish-key", "the-publish-key", "--data", "log")
    with serving(tmp_path, *options) as (url, process):
        wanted = {"where": "a = 1", "webhook": "https://127.0.0.2.example/?token=hidden"}
        made = post(f"{url}/subscriptions", json=wanted).json()
        ticket = {"Authorization": f"Bearer {made['ticket']}"}
        get(f"{url}/subscriptions/{made['id']}?secret=hidden", headers=ticket)
        post(f"{url}/events?wait=true", json={"a": 1}, headers={"Authorization": "Bearer x"})
        key = {"Authorization": "Bearer the-publish-key"}
        post(f"{url}/events?wait=true", json={"a": 1, "hidden": "hidden"}, headers=key)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        assert process.stderr is not None
        text = process.stderr.read()
    lines = [json.loads(line) for line in text.splitlines()]
    requests = [each for each in lines if each["message"] == "request"]
    assert [(each["method"], each["route"], each["status"]) for each in requests] == [
        *(("POST", "/subscriptions", 201), ("GET", "/subscriptions/{id}", 200)),
        *(("POST", "/events", 403), ("POST", "/events", 200)),
    ]
    assert all(0 < each["seconds"] < 60 for each in requests)
    assert "did not take" in text
    secrets = (made["ticket"], made["webhook"]["secret"], "the-publish-key", "hidden")
    assert not [secret for secret in secrets if secret in text]


ELSEWHERE = """
import signal, threading, time
from tamis.cli.serve import Signals

told = Signals(signal.SIGTERM)
signal.signal(signal.SIGUSR1, lambda *about: None)

def tell():
    time.sleep(0.3)  # the main thread waits by now
    for number in (signal.SIGUSR1, signal.SIGTERM):
        signal.pthread_kill(threading.get_ident(), number)

assert not told.wait(0.0)
threading.Thread(target=tell).start()
print(told.wait(), told.wait(0.0))
"""


def test_a_signal_that_another_thread_takes_is_heard() -> None:
    command = [sys.executable, "-c", ELSEWHERE]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == ["True", "True"]


def test_it_is_ready_at_once_on_an_empty_log(tmp_path: Path) -> None:
    """In two seconds, on a machine that does nothing else; here a bound that always holds."""
    began = time.monotonic()
    with serving(tmp_path) as (url, _):
        assert get(f"{url}/readyz").status_code == 200
    assert time.monotonic() - began < 60


@pytest.mark.parametrize(
    ("options", "status", "said"),
    [
        (["--planner", "savngs"], 2, "unknown planner 'savngs'"),
        (["--operators", "nowhere.py"], 2, "--operators"),
        (["--publish-key", " "], 2, "--publish-key is empty"),
        (["--keep-for", "long"], 2, "--keep-for: "),
        (["--webhook-allow", "10.0.0.1/8"], 2, "--webhook-allow: "),
        (["--log-format", "xml"], 2, "--log-format is text or json, not xml"),
        (["--subscriptions", "nowhere"], 1, "nowhere is no folder"),
        (["--follow-statistics"], 2, "--follow-statistics needs --statistics"),
        (["--host", "203.0.113.7"], 2, "cannot listen on 203.0.113.7"),
        (["--config", "none.toml"], 2, "--config none.toml: No such file"),
        (["--config", "bad.toml"], 2, "is not valid TOML"),
        (["--config", "odd.toml"], 2, "unknown setting prot; did you mean port?"),
        (["--data", "broken"], 1, "its end is lost"),
        (["--data", "odd.toml/log"], 1, "cannot make the folder odd.toml/log"),
    ],
)
def test_what_stops_the_start_is_a_sentence(
    tmp_path: Path, options: list[str], status: int, said: str
) -> None:
    (tmp_path / "bad.toml").write_text("port = ")
    (tmp_path / "odd.toml").write_text("prot = 1")
    if "broken" in options:
        from tamis.server.changes import Publish
        from tamis.server.log import Log

        with Log(tmp_path / "broken") as log:
            log.submit(Publish([{"a": 1}])).result()
        (tmp_path / "broken" / "log.sqlite").unlink()
    ended = refused(tmp_path, "--port", "0", *options)
    assert (ended.status, ended.out) == (status, "")
    assert ended.err.startswith("error: ")
    assert said in ended.err
    assert "Traceback" not in ended.err


def test_two_servers_do_not_share_a_log(tmp_path: Path) -> None:
    with serving(tmp_path, "--data", "log"):
        ended = refused(tmp_path, "--port", "0", "--data", "log")
    assert (ended.status, "is in use by another match server" in ended.err) == (1, True)
