"""One Spark session for all tests of this folder, on the Java of pip: none of the machine's."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tamis.errors import SparkError
from tamis.spark import java_found, session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def path_without_java(folder: Path) -> str:
    """The PATH, with links in the place of each folder that has a Java."""
    places = []
    for at, place in enumerate(os.environ["PATH"].split(os.pathsep)):
        if shutil.which("java", path=place):
            links = folder / str(at)
            links.mkdir(parents=True)
            for program in Path(place).iterdir():
                if not program.name.startswith("java"):
                    (links / program.name).symlink_to(program)
            place = str(links)
        places.append(place)
    return os.pathsep.join(places)


@pytest.fixture(scope="session")
def without_java(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No Java on this machine but that of pip."""
    before = {name: os.environ.get(name) for name in ("PATH", "JAVA_HOME")}
    os.environ["PATH"] = path_without_java(tmp_path_factory.mktemp("path"))
    os.environ.pop("JAVA_HOME", None)
    yield
    for name, value in before.items():
        if value is not None:
            os.environ[name] = value


@pytest.fixture(scope="session")
def spark(without_java: None) -> Iterator[SparkSession]:
    """A small local session."""
    pytest.importorskip("pyspark", reason="Spark is not installed: pip install 'tamis[spark]'")
    try:
        java_found()
    except SparkError as bad:
        pytest.skip(str(bad))
    settings = {
        "spark.driver.memory": "1g",
        "spark.sql.shuffle.partitions": "2",
        "spark.default.parallelism": "2",
        "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
    }
    made = session("local[2]", settings=settings)
    yield made
    made.stop()
