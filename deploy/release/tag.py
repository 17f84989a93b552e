"""The sources of a release: a tag, and nothing but what it has."""

import io
import re
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import NamedTuple

from deploy.raspberrypi.builder.errors import BuildError

PAGE = Path("gateway", "dashboard", "static")
"""What `make dashboard` builds: in every package, and in no tag."""


class Tag(NamedTuple):
    """A release by its name in git, its version, and when its commit was made (s since 1970)."""

    name: str
    version: str
    epoch: int


def tagged(checkout: Path) -> Tag:
    """The tag that is checked out, with nothing changed since.

    Raises BuildError where there is none, where files differ from it, or where version and
    CHANGELOG.md do not say the same as its name.
    """
    names = _git(checkout, "tag", "--points-at", "HEAD", "--sort=-creatordate").split()
    found = [name for name in names if re.fullmatch(r"v?\d+\.\d+\.\d+\S*", name)]
    if not found:
        raise BuildError(
            "no tag of a version is checked out",
            "git checkout v1.2.3, or make one as docs/releases.md has it",
        )
    changed = _git(checkout, "status", "--porcelain")
    if changed:
        raise BuildError(
            f"the checkout differs from {found[0]}:\n{changed}",
            "git stash --include-untracked, or build in a fresh clone",
        )
    tag = Tag(
        found[0], found[0].removeprefix("v"), int(_git(checkout, "log", "-1", "--format=%ct"))
    )
    _agree(checkout, tag)
    return tag


def _agree(checkout: Path, tag: Tag) -> None:
    said = re.search(
        r'^version = "(.+)"$', (checkout / "pyproject.toml").read_text("utf-8"), re.MULTILINE
    )
    if said is None or said[1] != tag.version:
        raise BuildError(
            f"the tag {tag.name} has version {said[1] if said else 'of no name'} in pyproject.toml",
            "tag the commit that has the version in pyproject.toml and gateway/__init__.py",
        )
    if f"\n## [{tag.version}]" not in (checkout / "CHANGELOG.md").read_text("utf-8"):
        raise BuildError(
            f"CHANGELOG.md has no chapter [{tag.version}]",
            "let its `Unreleased` be the version with its day, before the tag",
        )


def export(checkout: Path, tag: Tag, there: Path) -> None:
    """Lay out what the tag has, with the built page. Raises BuildError without one."""
    if not (checkout / PAGE / "index.html").is_file():
        raise BuildError(f"there is no {PAGE}", "make dashboard")
    command = ("git", "-C", str(checkout), "archive", "--format=tar", tag.name)
    done = subprocess.run(command, check=False, capture_output=True)
    if done.returncode:
        raise BuildError(done.stderr.decode(errors="replace").strip(), "see what git says")
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(there, filter="data")
    shutil.copytree(checkout / PAGE, there / PAGE)


def _git(checkout: Path, *words: str) -> str:
    command = ("git", "-C", str(checkout), *words)
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise BuildError(
            done.stderr.strip(),
            "a release is built in a git checkout with its tags: git fetch --tags",
        )
    return done.stdout.rstrip()
