"""Holds a server against its own description: `python -m tests.server.described --examples N`.

schemathesis asks every address that OpenAPI describes, with what is described and what is not: no
answer is a failure of the server, and each is of a status, a kind and a form that is described.
Streams, which do not end, and backups, which take long, are left out.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from tamis.server.service import ServerSettings
from tamis.server.serving import Server
from tests.server.conftest import Client, matcher

_CHECKS = (
    *("not_a_server_error", "status_code_conformance", "content_type_conformance"),
    *("response_headers_conformance", "response_schema_conformance", "unsupported_method"),
)
_ADMIN_KEY = "k"
_LEFT_OUT = ["follow_events_get", "matches_subscriptions__id__matches_get", "backup_backup_get"]
_LEFT_OUT += ["unsubscribe_subscriptions__id__delete"]  # the one that the others are asked about


def described(examples: int, seed: int, command: tuple[str, ...] = ()) -> tuple[int, str]:
    """Runs schemathesis against a server; its status, and what it said."""
    with tempfile.TemporaryDirectory() as folder:
        settings = ServerSettings(Path(folder), admin_key=_ADMIN_KEY)
        with Server(settings, matcher) as server:
            server.wait_ready()
            with Client(base_url=server.url) as client:
                known = Path(folder) / "known.toml"
                known.write_text('[parameters]\n"path.id" = "known"\n')
                _, ticket = client.subscribed(
                    "peopleCount(?n), ?n > 1", id="known", webhook="http://receiver.invalid"
                )
                client.published({"id": "known", "people": 3})
                run = subprocess.run(
                    [
                        *(command or (sys.executable, "-m", "schemathesis.cli")),
                        *(
                            "--config-file",
                            str(known),
                            "run",
                            f"{server.url}/openapi.json",
                            "--no-color",
                            "--seed",
                            str(seed),
                        ),
                        *("--checks", ",".join(_CHECKS), "--max-examples", str(examples)),
                        *(f"--exclude-operation-id={id}" for id in _LEFT_OUT),
                        *("--phases", "examples,coverage,fuzzing", "--request-timeout", "30"),
                        *("--header", f"Authorization: {ticket['Authorization']}"),
                        *("--header", f"Tamis-Admin-Key: {_ADMIN_KEY}"),
                    ],
                    capture_output=True,
                    text=True,
                    check=False,
                )
                assert client.get("/readyz").status_code == 200
    return run.returncode, run.stdout + run.stderr


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    status, said = described(chosen.examples, chosen.seed)
    print(said)
    sys.exit(status)


if __name__ == "__main__":
    main()
