"""examples/archive.ipynb on an archive as `ingest` makes it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from spark_batch.archive import Archive
from spark_batch.summary import Summary
from tests.kit.notebooks import run
from tests.spark_batch.truths import reading, write_segment


def test_pandas_and_polars_read_the_same(
    tmp_path: Path,
    landing: Path,
    archive: Archive,
    ingest: Callable[[], Summary],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write_segment(landing, [reading(1), reading(2), reading(3, s="urn:other")])
    assert ingest().rows_out == 3
    monkeypatch.setenv("SOSA_GATEWAY_ARCHIVE", str(archive.folder))
    output = run("archive", tmp_path)
    assert "urn:other" in output
    assert "urn:p" in output
