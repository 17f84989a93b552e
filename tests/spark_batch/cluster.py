"""A standalone cluster of the pyspark package on loopback: a master and workers as processes.

Jobs are submitted as docs/archive.md says: `spark_batch` zipped, and a `main.py` of one line.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pyspark

from spark_batch.java import java_home
from tests.kit.gateways import free_port
from tests.paths import ROOT

SPARK = Path(pyspark.__file__).parent
_MAIN = "import sys; from spark_batch.cli import main; sys.exit(main())\n"
_LOCAL = "127.0.0.1"


@dataclass(slots=True)
class Daemon:
    """A master or a worker, leader of its process group; executors are in their worker's."""

    process: subprocess.Popen[bytes]
    log: Path

    def await_line(self, text: str, times: int = 1, within_s: float = 120) -> None:
        """Until the log has so many lines with a text."""
        deadline = time.monotonic() + within_s
        while self.log.read_text(errors="replace").count(text) < times:
            assert self.process.poll() is None, self.log.read_text()[-2000:]
            assert time.monotonic() < deadline, self.log.read_text()[-2000:]
            time.sleep(0.05)

    def signal(self, number: int) -> None:
        """To the whole group."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def kill(self) -> None:
        """As if its machine had no power any more."""
        self.signal(signal.SIGKILL)
        self.process.wait(60)

    def has_open(self, part: str) -> bool:
        """Whether a process of the group has a file open whose path has this part."""
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if os.getpgid(int(folder.name)) == self.process.pid and any(
                    part in os.readlink(each) for each in (folder / "fd").iterdir()
                ):
                    return True
        return False


@dataclass(slots=True)
class Cluster:
    """Processes below a folder; `submit` gives a driver on it."""

    folder: Path
    environment: dict[str, str]
    port: int = field(default_factory=free_port)
    master: Daemon = field(init=False)
    workers: list[Daemon] = field(default_factory=list)
    drivers: list[Daemon] = field(default_factory=list)

    def start_master(self) -> None:
        """Also again, at the same port."""
        options = ("--host", _LOCAL, "--port", str(self.port), "--webui-port", "0")
        kind = ("org.apache.spark.deploy.master.Master", *options)
        self.master = self._start("master", [str(SPARK / "bin" / "spark-class"), *kind])
        self.master.await_line("I have been elected leader")

    def start_worker(self, local: Path | None = None) -> Daemon:
        """One of a core and 512 MB, which `await_workers`; shuffles are kept in `local`."""
        number = len(self.workers)
        options = ["--host", _LOCAL, "--port", "0", "--webui-port", "0", "--cores", "1"]
        options += ["--memory", "512m", "--work-dir", str(self.folder / f"work-{number}")]
        kind = ["org.apache.spark.deploy.worker.Worker", *options, self.url]
        command = [str(SPARK / "bin" / "spark-class"), *kind]
        worker = self._start(f"worker-{number}", command, local)
        self.workers.append(worker)
        return worker

    def await_workers(self) -> None:
        """Until the master knows all that were not killed."""
        for worker in self.workers:
            if worker.process.returncode is None:
                worker.await_line("Successfully registered with master")

    @property
    def url(self) -> str:
        """Of the master."""
        return f"spark://{_LOCAL}:{self.port}"

    def submit(self, *arguments: str, settings: Sequence[str] = ()) -> Daemon:
        """A driver that does a job of the archive; the log is its standard output and error."""
        command = [str(SPARK / "bin" / "spark-submit"), "--master", self.url]
        told = ["spark.ui.enabled=false", f"spark.driver.host={_LOCAL}", *settings]
        told += ["spark.executor.memory=512m", "spark.driver.memory=512m"]
        for each in told:
            command += ["--conf", each]
        command += ["--py-files", str(self.folder / "jobs.zip"), str(self.folder / "main.py")]
        driver = self._start(f"driver-{len(self.drivers)}", [*command, *arguments])
        self.drivers.append(driver)
        return driver

    def stop(self) -> None:
        """Everything that was started."""
        for each in (*self.drivers, *self.workers, self.master):
            each.kill()

    def _start(self, name: str, command: Sequence[str], local: Path | None = None) -> Daemon:
        log = self.folder / f"{name}.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                command,
                cwd=self.folder,
                env=self.environment | {"SPARK_LOCAL_DIRS": str(local or self.folder / "local")},
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        return Daemon(process, log)


@contextmanager
def cluster(folder: Path, workers: int = 2) -> Iterator[Cluster]:
    """A master and so many workers; ends every process."""
    folder.mkdir()
    with zipfile.ZipFile(folder / "jobs.zip", "w") as jobs:
        for path in sorted((ROOT / "spark_batch").rglob("*.py")):
            jobs.write(path, path.relative_to(ROOT))
    (folder / "main.py").write_text(_MAIN)
    python = {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    home = {"JAVA_HOME": str(java_home(os.environ, folder)), "SPARK_LOCAL_IP": _LOCAL}
    made = Cluster(folder, {**os.environ, **python, **home})
    try:
        made.start_master()
        for _ in range(workers):
            made.start_worker()
        made.await_workers()
        yield made
    finally:
        made.stop()
        shutil.rmtree(folder / "local", ignore_errors=True)
