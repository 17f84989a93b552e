"""The archive chapter of README: from a running demo gateway to a page and a DataFrame."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from deltalake import DeltaTable
from pyspark.sql import SparkSession

from spark_batch.archive import Archive
from spark_batch.jobs.quality import Quality
from spark_batch.summary import Summary


def wait_for_segments(landing: Path, process: subprocess.Popen[bytes]) -> None:
    """The demo seals what it has every few seconds."""
    until = time.monotonic() + 120
    while not list(landing.rglob("*.jsonl.gz")):
        assert process.poll() is None, "the demo ended"
        assert time.monotonic() < until, "the demo shipped nothing"
        time.sleep(0.1)


def test_demo_gateway_fills_an_archive_while_it_runs(
    landing: Path, archive: Archive, ingest: Callable[[], Summary], spark: SparkSession
) -> None:
    command = [sys.executable, "-c", "import sys; from gateway.cli import main; sys.exit(main())"]
    command += ["demo", "--plain", "--speed", "600", "--landing", str(landing)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, env=os.environ) as process:
        try:
            wait_for_segments(landing, process)
            first = ingest()
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 0
    assert first.rows_out > 10
    assert first.quarantined == 0
    page = archive.folder / "report.html"
    summary = Quality(archive, lambda: spark).run(report=page)
    assert int(str(summary.details["streams"])) > 3
    assert "<svg" in page.read_text(encoding="utf-8")
    frame = DeltaTable(str(archive.observations.folder)).to_pandas()
    assert set(frame.gateway) == {"demo"}
    assert len(frame) >= first.rows_out
