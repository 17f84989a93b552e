"""kill -9 at every stage: the next run ends what was begun, and the archive is the truth."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from spark_batch.archive import Archive
from spark_batch.faults import POINTS, VARIABLE
from spark_batch.summary import Summary
from spark_batch.tools.fleet import Fleet
from tests.spark_batch.truths import reading, rows, write_segment

pytestmark = pytest.mark.alone


def start(archive: Archive, landing: Path, **environment: str) -> subprocess.Popen[bytes]:
    """The job in a process group of its own: the driver and its JVM."""
    job = [sys.executable, "-m", "spark_batch", "ingest", "--quiet"]
    job += ["--archive", str(archive.folder), "--landing", str(landing)]
    job += ["--conf", "spark.sql.shuffle.partitions=2"]
    return subprocess.Popen(
        job,
        env=os.environ | environment,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def kill_group(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(60)


@pytest.mark.parametrize("point", POINTS)
def test_driver_killed_at(
    point: str, landing: Path, archive: Archive, ingest: Callable[[], Summary]
) -> None:
    truth = Fleet(gateways=2, days=1, seed=7).write(landing)
    process = start(archive, landing, **{VARIABLE: point})
    try:
        assert process.wait(200) == -signal.SIGKILL
    finally:
        kill_group(process)
    assert rows(archive) == (truth if point == "committed" else [])
    assert archive.plans.read(1) is not None
    write_segment(landing, [reading(1)], gateway="z-meanwhile")
    summary = ingest()
    found = rows(archive)
    assert found[:-1] == truth
    assert found[-1].gateway == "z-meanwhile"
    assert summary.rows_out == (1 if point == "committed" else len(truth) + 1)
    runs = list((archive.observations.folder / "data").iterdir())
    assert len(runs) == 2, "what the dead run left is gone"


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_killed_twenty_times_at_random(
    landing: Path, archive: Archive, ingest: Callable[[], Summary]
) -> None:
    chance = random.Random(20)
    fleet = Fleet(gateways=4, sensors=6, days=8, interval_s=300, lines=200, seed=20)
    deliveries = fleet.deliveries(landing)
    truth = next(deliveries)
    begun = time.monotonic()
    assert start(archive, landing).wait(600) in (0, 3)
    usual_s = time.monotonic() - begun
    kills = 0
    while kills < 20:
        truth += next(deliveries)  # without anything new a run would end before it is killed
        process = start(archive, landing)
        try:
            process.wait(chance.uniform(0.1, 1.1) * usual_s)
        except subprocess.TimeoutExpired:
            kills += 1
        finally:
            kill_group(process)
    for delivered in deliveries:
        truth += delivered
    ingest()
    truth.sort(key=lambda row: (row.gateway, row.epoch, row.sequence))
    assert rows(archive) == truth
