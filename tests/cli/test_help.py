"""The help of every command is there, ends its sentences, and is never cut."""

from __future__ import annotations

import pytest
import typer

from tamis.cli.app import build
from tamis.cli.bench import BENCHES, command_of
from tests.cli.running import Tamis

TOP = typer.main.get_command(build())
COMMANDS = {
    **TOP.commands,  # type: ignore[attr-defined]
    **{f"bench {name}": name for name in BENCHES},
}


@pytest.mark.parametrize("command", ["", "bench", "models"])
def test_lists_of_commands_cut_no_sentence(command: str, tamis: Tamis) -> None:
    shown = tamis(*command.split(), "--help").out
    assert "Commands:" in shown
    assert "..." not in shown.partition("Commands:")[2]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_has_help_in_sentences(name: str) -> None:
    found = COMMANDS[name]
    if isinstance(found, str):
        pytest.importorskip("scipy", reason="pip install 'tamis[bench]'")
        found = command_of(found)
    assert (found.help or "").rstrip().endswith(".")
    for parameter in found.params:
        if not getattr(parameter, "hidden", False):
            assert (getattr(parameter, "help", "") or "").endswith("."), parameter.name
