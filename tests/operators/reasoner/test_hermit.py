"""Checks the choice of the Java that HermiT runs on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tamis_operators.reasoner.hermit import find_java


def test_java_is_looked_for_where_the_user_says_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert find_java() == java
    java.chmod(0o644)
    assert find_java() != java
