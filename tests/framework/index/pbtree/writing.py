"""A process that changes an index until it is killed, and says how many changes were made.

`python -m tests.framework.index.pbtree.writing FOLDER SEED`: the file of the folder's name and
`.json` says from which seed changes follow, and how many were made.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import tamis
from tests.framework.index.pbtree.changes import Changes


def say(**what: object) -> None:
    """Says something at once, whole."""
    os.write(1, json.dumps(what).encode() + b"\n")


def main(folder: str, seed: str) -> None:
    notes = json.loads(Path(f"{folder}.json").read_text())
    changes = Changes(notes["seed"], named=True)
    for _ in range(notes["done"]):
        changes.next()
    say(opening=seed)
    index = tamis.index.build("pbtree", [], folder=folder, pool_bytes=1 << 20)
    say(opened=seed)
    while True:
        added, gone = changes.next()
        if added:
            index.insert_many(added.items())
        if gone:
            index.delete_many(gone)
        say(did=changes.count)


if __name__ == "__main__":
    main(*sys.argv[1:])
