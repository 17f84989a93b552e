"""Java's classes kept for its next start: made of a list, taken by that Java, and told if not."""

import os
import subprocess
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_batch.class_data import VARIABLE, ClassData
from spark_batch.java import java_home
from spark_batch.session import keep_classes


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return java_home(os.environ, tmp_path)


@pytest.fixture
def data(home: Path, tmp_path: Path) -> ClassData:
    made = ClassData.of(home, {VARIABLE: str(tmp_path / "of a person")})
    assert made is not None
    assert made.can_be_kept
    return made


def test_a_list_of_classes_is_what_the_next_java_starts_with(data: ClassData) -> None:
    listing = ["java/lang/Object", "java/lang/String", "java/util/ArrayList"]
    data.listed.write_text("\n".join(listing))
    assert data.keep("") == ""
    assert not data.listed.exists()
    assert list(data.archive.parent.iterdir()) == [data.archive]
    options = [f"-XX:SharedArchiveFile={data.archive}", "-Xshare:on", "-version"]
    started = subprocess.run(
        [data.java, *options], capture_output=True, text=True, timeout=60, check=False
    )
    assert started.returncode == 0, started.stderr
    assert "sharing" in started.stderr


def test_options_are_the_archive_or_the_list_to_make_it_of(data: ClassData) -> None:
    assert data.options(is_listing=True) == f"'-XX:DumpLoadedClassList={data.listed}'"
    assert data.options(is_listing=False) == ""
    data.archive.touch()
    for is_listing in (True, False):
        assert f"'-XX:SharedArchiveFile={data.archive}'" in data.options(is_listing=is_listing)


def test_what_java_refuses_is_told_and_nothing_is_left(data: ClassData) -> None:
    assert data.keep("") != ""  # there is no list
    assert not list(data.archive.parent.iterdir())


def test_nobody_keeps_anything_where_it_is_not_wanted(home: Path, tmp_path: Path) -> None:
    assert ClassData.of(home, {VARIABLE: "", "HOME": str(tmp_path)}) is None
    assert ClassData.of(home, {}) is None
    kept = ClassData.of(home, {"HOME": str(tmp_path)})
    assert kept is not None
    assert kept.archive.parent == tmp_path / ".cache" / "sosa-gateway" / "java"


def test_a_folder_that_cannot_be_written_is_told(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv(VARIABLE, str(tmp_path / "file" / "classes"))
    told: list[str] = []
    keep_classes(told.append)
    assert len(told) == 1
    assert "cannot be written" in told[0]


def test_an_archive_that_java_did_not_take_is_told(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    data = ClassData.of(Path(os.environ["JAVA_HOME"]), os.environ)
    assert data is not None
    data.archive.touch()
    monkeypatch.setattr("spark_batch.session._is_sharing", lambda session: False)
    told: list[str] = []
    keep_classes(told.append)
    assert len(told) == 1
    assert "remove it" in told[0]
