"""Starts a PostgreSQL of its own for tests, where its programs are."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_FOLDERS = sorted(map(str, Path("/usr/lib/postgresql").glob("*/bin")), reverse=True)


def program(name: str) -> str | None:
    """The path of one of PostgreSQL's programs: on the path, or where Debian has them."""
    return shutil.which(name, path=os.pathsep.join([os.environ.get("PATH", ""), *_FOLDERS]))


def _user() -> int | None:
    """Whose the server is: PostgreSQL refuses to be root's."""
    if os.geteuid():
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_uid
        except KeyError:
            continue
    return None


@contextmanager
def postgresql() -> Iterator[str]:
    """The address of a new server, which listens in a folder alone."""
    user, initdb, postgres = _user(), program("initdb"), program("postgres")
    assert initdb is not None
    assert postgres is not None
    with tempfile.TemporaryDirectory(prefix="pg-", dir="/tmp") as place:
        if user is not None:
            os.chown(place, user, -1)
        data, quiet = str(Path(place) / "data"), subprocess.DEVNULL
        asked = [initdb, "--auth=trust", "--no-sync", "--username=tamis", "-E", "UTF8", data]
        subprocess.run(asked, check=True, stdout=quiet, stderr=quiet, user=user, cwd=place)
        server = subprocess.Popen(
            [postgres, "-D", data, "-k", place, "-c", "listen_addresses="],
            stdout=quiet, stderr=subprocess.PIPE, user=user, cwd=place, text=True,
        )  # fmt: skip
        assert server.stderr is not None
        try:
            for line in server.stderr:
                if "ready to accept connections" in line:
                    break
            yield f"postgresql://tamis@/postgres?host={place}"
        finally:
            server.terminate()
            server.stderr.read()
            server.stderr.close()
            server.wait()
