"""The jobs as a person starts them: exit codes, summaries, other ways to start, a full disk."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from resource import RLIM_INFINITY, RLIMIT_FSIZE, setrlimit

import pytest
from pyspark.sql import SparkSession

from gateway.cli.command import main as gateway
from spark_batch.archive import Archive
from spark_batch.cli import main
from spark_batch.errors import JavaMissingError
from spark_batch.java import java_home
from spark_batch.jobs.derive import Rollup
from spark_batch.jobs.export_rdf import Export, export_rdf
from spark_batch.jobs.ingest import Ingest
from spark_batch.landing import landing_zone
from spark_batch.session import _java_options
from spark_batch.summary import Summary
from spark_batch.tools.fleet import Fleet
from tests.paths import ROOT
from tests.spark_batch.truths import reading, rows, write_segment


def test_fleet_then_dry_run_then_idle_upkeep(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    landing, archive = str(tmp_path / "landing"), str(tmp_path / "archive")
    assert main(["fleet", "--landing", landing, "--gateways", "1", "--days", "1"]) == 0
    lines = json.loads(capsys.readouterr().out)["rows_out"]
    metrics = tmp_path / "archive.prom"
    common = ["--archive", archive, "--quiet", "--metrics", str(metrics)]
    code = main(["ingest", "--landing", landing, "--dry-run", *common])
    summary = json.loads(capsys.readouterr().out)
    assert (code, summary["status"]) == (3 if summary["quarantined"] else 0, "dry-run")
    assert summary["rows_out"] >= lines
    assert f'sosa_archive_rows_in{{job="ingest"}} {summary["rows_in"]}' in metrics.read_text()
    assert main(["vacuum", *common]) == 1
    assert "what to do" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [[], ["ingest"], ["retain", "--archive", "x", "--days", "0"], ["compact", "--conf", "x"]],
)
def test_wrong_usage_is_2(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(arguments)
    assert exit_.value.code == 2


def _environment_without_java(tools: Path) -> dict[str, str]:
    """Folders with java, in which the launcher's shell lies too, become links to all else."""
    folders = [Path(folder) for folder in os.environ["PATH"].split(os.pathsep)]
    tools.mkdir()
    for folder in folders:
        if (folder / "java").exists():
            for program in folder.iterdir():
                link = tools / program.name
                if program.name != "java" and not link.exists():
                    link.symlink_to(program)
    kept = [str(folder) for folder in folders if not (folder / "java").exists()]
    environment = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
    return environment | {"PATH": os.pathsep.join([*kept, str(tools)])}


def test_gateway_starts_the_job_on_a_machine_without_java(tmp_path: Path) -> None:
    environment = _environment_without_java(tmp_path / "bin")
    assert shutil.which("java", path=environment["PATH"]) is None
    landing = tmp_path / "landing"
    landing.mkdir()
    write_segment(landing, [reading(1), reading(2)])
    job = [
        sys.executable,
        "-c",
        "import sys; from gateway.cli.command import main; sys.exit(main())",
    ]
    job += ["archive", "ingest", "--landing", str(landing), "--archive", str(tmp_path / "a")]
    done = subprocess.run(
        job, env=environment, capture_output=True, text=True, timeout=250, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rows_out"] == 2
    assert "committed 2 rows" in done.stderr


@pytest.fixture
def derived(
    ingest: Callable[[], Summary], landing: Path, archive: Archive, spark: SparkSession
) -> Archive:
    """An archive with everything that jobs make of it."""
    write_segment(landing, [reading(1), reading(2)])
    ingest()
    Rollup(archive, lambda _: spark).run()
    export_rdf(archive, lambda _: spark, Export(archive.folder / "rdf"))
    return archive


def test_second_run_of_each_job_finds_nothing_to_do_and_starts_no_jvm(
    derived: Archive,
    landing: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("spark_batch.cli.spark_session", lambda *_: pytest.fail("a JVM"))
    jobs = [
        ["ingest", "--landing", str(landing)],
        ["rollup"],
        ["export-rdf", "--out", str(derived.folder / "rdf")],
        ["compact"],
        ["retain", "--days", "36500"],
    ]
    for job in jobs:
        assert main([*job, "--archive", str(derived.folder), "--quiet"]) == 0
        assert json.loads(capsys.readouterr().out)["status"] == "idle", job


def test_collector_that_somebody_chose_stays() -> None:
    assert "-XX:+UseParallelGC" in _java_options({"JAVA_TOOL_OPTIONS": "-Xss2m"})
    assert "GC" not in _java_options({"JAVA_TOOL_OPTIONS": "-Xss2m -XX:+UseSerialGC"})


def test_small_jobs_have_one_compiler_unless_somebody_chose() -> None:
    assert "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC" in _java_options({}, is_small=True)
    chosen = {"JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=4 -XX:+UseG1GC"}
    assert "-XX:" not in _java_options(chosen, is_small=True)


def test_spark_submit_runs_the_zip(tmp_path: Path) -> None:
    landing = tmp_path / "landing"
    landing.mkdir()
    write_segment(landing, [reading(n) for n in range(1, 30)])
    archive = shutil.make_archive(str(tmp_path / "jobs"), "zip", ROOT, "spark_batch")
    program = tmp_path / "main.py"
    program.write_text("import sys\nfrom spark_batch.cli import main\nsys.exit(main())\n")
    submit = Path(sys.executable).with_name("spark-submit")
    command = [str(submit), "--master", "local[2]", "--conf", "spark.ui.enabled=false"]
    command += ["--py-files", archive, str(program), "ingest"]
    command += ["--landing", str(landing), "--archive", str(tmp_path / "archive")]
    environment = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    environment["JAVA_HOME"] = str(java_home(os.environ, tmp_path))
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(rows(Archive(tmp_path / "archive"))) == 29


def test_full_disk_commits_nothing_and_the_next_run_goes_on(
    tmp_path: Path, spark: SparkSession
) -> None:
    landing, archive = tmp_path / "landing", Archive(tmp_path / "archive")
    landing.mkdir()
    write_segment(landing, [reading(n, s=f"urn:{n * 7919}") for n in range(1, 3000)])
    command = [sys.executable, "-m", "spark_batch", "ingest", "--landing", str(landing)]
    command += ["--archive", str(archive.folder), "--quiet"]
    # JIT and class data files of the JVM are small; what it writes for us is not.
    done = subprocess.run(
        command,
        preexec_fn=lambda: setrlimit(RLIMIT_FSIZE, (20_000, RLIM_INFINITY)),
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )
    assert done.returncode == 5, done.stderr
    assert "no room" in done.stderr
    assert "free disk space" in done.stderr
    assert rows(archive) == []
    assert not list(archive.observations.folder.glob("data/**/*.parquet"))
    Ingest(archive, landing_zone(str(landing)), lambda _: spark).run()
    assert len(rows(archive)) == 2999


def test_java_home_that_is_wrong_is_told(tmp_path: Path) -> None:
    with pytest.raises(JavaMissingError, match="JAVA_HOME"):
        java_home({"JAVA_HOME": str(tmp_path), "PATH": os.environ["PATH"]}, tmp_path)


def test_java_too_old_is_passed_over(tmp_path: Path) -> None:
    old = tmp_path / "java"
    old.write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\"' >&2\n")
    old.chmod(0o755)
    home = java_home({"PATH": str(tmp_path)}, tmp_path / "scratch")
    assert (home / "bin" / "java").read_text().startswith("#!/bin/sh")


def test_archive_without_spark_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("gateway.cli.programs.archive.find_spec", lambda name: None)
    assert gateway(["archive", "ingest"]) == 1
    assert "sosa-gateway[spark,java]" in capsys.readouterr().err


def test_the_commands_of_the_readme_are_understood(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those of one Pi and of a cluster; what they do is in test_rounds.py and test_cluster.py."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    told = re.findall(r"(?:sosa-gateway archive|main\.py) (run [^`\n]*)", text)
    assert len(told) == 2
    Fleet(gateways=1, days=1, interval_s=3600, faults=False).write(tmp_path / "landing")
    for command in told:
        arguments = shlex.split(command.lower(), comments=True)
        places = {"landing", "archive", "report.html"}
        placed = [str(tmp_path / each) if each in places else each for each in arguments]
        assert main([*placed, "--dry-run", "--quiet"]) == 0
        summary = json.loads(capsys.readouterr().out)
        assert (summary["job"], summary["status"]) == ("run", "dry-run")
        assert summary["rows_in"] > 0
    (asked,) = re.findall(r"sosa-gateway query --archive archive '(.*)'", text)
    gateway(["query", "--archive", str(tmp_path / "none"), asked])
    assert "syntax" not in capsys.readouterr().err
