"""What Java has made of Spark's classes, kept for its next start (JEP 310, Application CDS).

Place on the way of the data: beside `java`. Spark loads 15,000 classes, which takes a third of the
CPU time of a job on few rows. `run` has Java list what it loaded, and once makes an archive of that
list in the user's cache; every job that starts a Java of the same kind maps it. An archive that
does not fit is left alone by Java, which then reads the classes as if there were none.
"""

import hashlib
import os
import shlex
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import pyspark

VARIABLE = "SOSA_ARCHIVE_CLASSES"
"""Names another folder than that of the user's cache; the empty text means none at all."""

_ENDING = ".jsa"
_DUMP_S = 900
_QUIET = ("-Xlog:disable", "-Xlog:all=error:stderr")


@dataclass(frozen=True, slots=True)
class ClassData:
    """The archive of one Java and one Spark; `listed` is what a Java of ours will have loaded."""

    java: Path
    archive: Path
    listed: Path

    @classmethod
    def of(cls, home: Path, environment: Mapping[str, str]) -> Self | None:
        """The archive for the Java of a JAVA_HOME; None where nobody may have one."""
        folder = _folder(environment)
        java, release = home / "bin" / "java", home / "release"
        if folder is None or not java.exists():
            return None
        told = hashlib.sha256(java.read_bytes())  # a launcher of some kilobytes, or our shim
        told.update(release.read_bytes() if release.exists() else b"")
        told.update(str(Path(pyspark.__file__).parent).encode())
        name = f"spark-{pyspark.__version__}-{told.hexdigest()[:12]}"
        return cls(java, folder / f"{name}{_ENDING}", folder / f"{name}-{os.getpid()}.classes")

    def options(self, *, is_listing: bool) -> str:
        """What Java is to be started with: the archive, or where to list what it loads."""
        if self.archive.exists():
            quiet = "-Xlog:cds=off -Xlog:class+path=off"
            return f"{shlex.quote(f'-XX:SharedArchiveFile={self.archive}')} {quiet}"
        if is_listing and self.can_be_kept:
            return shlex.quote(f"-XX:DumpLoadedClassList={self.listed}")
        return ""

    @property
    def can_be_kept(self) -> bool:
        """Whether the folder is there, made if need be, and may be written."""
        folder = self.archive.parent
        with suppress(OSError):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return os.access(folder, os.W_OK)

    def keep(self, class_path: str) -> str:
        """Make the archive of what was listed, which is removed; why there is none, or nothing.

        Java gets a process of its own at a low priority, which ends with us: half a minute of a
        core, 200 MB.
        """
        begun = self.archive.with_name(f".{self.listed.stem}{_ENDING}")
        command = [str(self.java), "-Xshare:dump", "-Xmx512m", "-XX:+UseSerialGC", *_QUIET]
        command += [f"-XX:SharedClassListFile={self.listed}", f"-XX:SharedArchiveFile={begun}"]
        try:
            subprocess.run(
                ["nice", "-n", "10", *command, "-cp", class_path],
                check=True,
                capture_output=True,
                text=True,
                timeout=_DUMP_S,
            )
            begun.replace(self.archive)
        except subprocess.CalledProcessError as error:
            told: list[str] = error.stderr.strip().splitlines()
            return told[0] if told else f"Java ended with {error.returncode}"
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
        finally:
            for path in (begun, *self.archive.parent.glob(f"{self.archive.stem}-*.classes")):
                with suppress(OSError):
                    path.unlink(missing_ok=True)
        return ""


def _folder(environment: Mapping[str, str]) -> Path | None:
    """Where archives are; None: nowhere, since somebody said so or there is no home."""
    if (chosen := environment.get(VARIABLE)) is not None:
        return Path(chosen).absolute() if chosen else None
    if cache := environment.get("XDG_CACHE_HOME"):
        return Path(cache, "sosa-gateway", "java").absolute()
    home = environment.get("HOME")
    return Path(home, ".cache", "sosa-gateway", "java") if home else None
