"""The archive chapter of README: from a running demo gateway to a page and a DataFrame."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable
from pyspark.sql import SparkSession

from gateway.shipping import Shipper, open_zone
from spark_batch.archive import Archive
from spark_batch.jobs.quality import Quality
from spark_batch.summary import Summary
from tests.gateway.shipping.journals import sealed_journal
from tests.kit.blocks import Block, Ports, Terminal, blocks, gateway_process
from tests.kit.chromium import browsers
from tests.kit.gateways import LOOPBACK, free_port
from tests.kit.screens import keep
from tests.paths import ROOT

OF_JAVA = ("JAVA_HOME", "JAVA_TOOL_OPTIONS", "SOSA_ARCHIVE_CLASSES")


def wait_for_segments(landing: Path, process: subprocess.Popen[bytes]) -> None:
    """The demo seals what it has every few seconds, and writes a line every second."""
    assert process.stdout is not None
    lines = islice(process.stdout, 120)
    shipped = any(list(landing.rglob("*.jsonl.gz")) for _ in lines)
    assert shipped, "the demo ended, or shipped nothing in 120 lines"


@pytest.mark.xdist_group("ports of the demo")
def test_demo_gateway_fills_an_archive_while_it_runs(
    landing: Path, archive: Archive, ingest: Callable[[], Summary], spark: SparkSession
) -> None:
    command = [
        sys.executable,
        "-c",
        "import sys; from gateway.cli.command import main; sys.exit(main())",
    ]
    command += ["demo", "--plain", "--speed", "600", "--landing", str(landing)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ) as process:
        try:
            wait_for_segments(landing, process)
            first = ingest()
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
    assert process.returncode == 0
    assert first.rows_out > 10
    assert first.quarantined == 0
    page = archive.folder / "report.html"
    summary = Quality(archive, lambda _: spark).run(report=page)
    assert int(str(summary.details["streams"])) > 3
    assert "<svg" in page.read_text(encoding="utf-8")
    if shutil.which("chromium"):
        keep("report.png", asyncio.run(seen(page)))
    the_pages_programs_run(spark, archive, landing)
    frame = DeltaTable(str(archive.observations.folder)).to_pandas()
    assert set(frame.gateway) == {"demo"}
    assert len(frame) >= first.rows_out


def the_pages_programs_run(spark: SparkSession, archive: Archive, landing: Path) -> None:
    """Those in Python of docs/archive.md and docs/segments.md, as they stand there."""
    segments = [str(path) for path in landing.rglob("*.jsonl.gz")]
    (of_archive,), (of_segments,) = (
        [block.text for block in blocks(page) if block.language == "python"]
        for page in ("docs/archive.md", "docs/segments.md")
    )
    exec(of_archive.replace("ARCHIVE", str(archive.folder)), {"spark": spark})
    names: dict[str, Any] = {"spark": spark, "paths": segments}
    exec(of_segments.replace("spark.read", "rows = spark.read"), names)
    assert names["rows"].count() > 10


def test_the_commands_of_the_page_make_an_archive_and_a_dataframe(tmp_path: Path) -> None:
    """Those of docs/archive.md, by a Spark that they start."""
    block = saying("deltalake.DeltaTable", "docs/archive.md")
    terminal = Terminal(tmp_path, Ports(0, 0, 0))
    terminal.environment |= {name: os.environ[name] for name in OF_JAVA if name in os.environ}
    (tmp_path / "landing").mkdir()
    with sealed_journal(tmp_path / "journal", segments=1) as journal:
        zone = open_zone(str(tmp_path / "landing"), {})
        Shipper(journal.folder, journal.manifest, zone, "landing").ship()
    assert "[10 rows x" in terminal.run(block)
    assert "<svg" in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.end_to_end
@pytest.mark.timeout(1200)
def test_an_archive_is_made_asked_and_played_again_as_the_pages_say(tmp_path: Path) -> None:
    ports = Ports(free_port(), free_port(), free_port())
    terminal = Terminal(tmp_path, ports)
    terminal.environment |= {name: os.environ[name] for name in OF_JAVA if name in os.environ}
    terminal.environment["PATH"] += f":{Path(sys.executable).parent}"
    terminal.environment |= dict.fromkeys(
        ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"), sys.executable
    )
    terminal.patience_s = 600
    (tmp_path / "spark_batch").symlink_to(ROOT / "spark_batch")
    for name in ("landing", "LANDING"):
        (tmp_path / name).mkdir()
        with sealed_journal(tmp_path / f"journal of {name}", segments=1) as journal:
            Shipper(
                journal.folder, journal.manifest, open_zone(str(tmp_path / name), {}), name
            ).ship()
    with gateway_process(tmp_path, ports):
        assert "10" in terminal.run(saying("query --archive", "README.md"))
        assert "<svg" in (tmp_path / "report.html").read_text(encoding="utf-8")
        for words, told in TOLD.items():
            block = saying(words, "docs/archive.md")
            here = {
                "gateway:8000": f"{LOOPBACK}:{ports.http}",
                "broker": f"{LOOPBACK}:{ports.mqtt}",
            }
            text = block.text
            for name, place in here.items():
                text = text.replace(f"//{name}", f"//{place}")
            assert told in terminal.run(replace(block, text=text)), words


TOLD = {
    "archive run --landing": '"rows_out": 10',
    "spark-submit": '"rows_out": 0',
    "archive query --archive": "mean",
    "AS ?most": "most",
    "archive replay": '"rows_out": 10',
}
"""Words of a block of docs/archive.md, and of what it prints."""


def saying(words: str, page: str) -> Block:
    """The block of commands of a page with these words."""
    return next(each for each in blocks(page) if each.language == "sh" and words in each.text)


async def seen(file: Path) -> bytes:
    """The top of a page, as a browser shows it; on a phone nothing is beside the screen."""
    async with browsers() as browser:
        page = await browser.new_page(viewport={"width": 390, "height": 700})
        await page.goto(file.as_uri())
        assert await page.evaluate("document.documentElement.scrollWidth") == 390
        await page.set_viewport_size({"width": 1000, "height": 700})
        return await page.screenshot()
