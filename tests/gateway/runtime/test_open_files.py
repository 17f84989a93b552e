"""The limit of open files, in a process of its own: it stays raised."""

import subprocess
import sys

import pytest

PROGRAM = """
import resource
from gateway.runtime.process import raise_limit

_, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))
assert raise_limit() == hard
assert resource.getrlimit(resource.RLIMIT_NOFILE) == (hard, hard)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
def test_soft_limit_is_raised_to_the_hard_one() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, timeout=60)
