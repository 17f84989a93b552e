"""The parts of a release, each built of the export of the tag alone, by the tag's own code."""

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from deploy.raspberrypi.builder.errors import BuildError
from deploy.raspberrypi.builder.image.__main__ import TOOLS
from deploy.raspberrypi.builder.image.base import require_emulation
from deploy.raspberrypi.builder.image.commands import require
from deploy.raspberrypi.builder.image.flavours import FLAVOURS
from deploy.release.materials import release_bill
from deploy.release.tag import Tag
from deploy.release.tarball import pack, unpack
from deploy.site.pictures import SCREENSHOTS, missing, named

_BUILD = (
    "import sys; from setuptools import build_meta; getattr(build_meta, sys.argv[1])(sys.argv[2])"
)
_IMAGE = FLAVOURS["debian", "arm64"]


@dataclass(frozen=True, slots=True)
class Build:
    """Where the sources lie and what is made goes; `checkout` keeps what was fetched before.

    `url` is where what is made will be published, "" where nobody says.
    """

    sources: Path
    made: Path
    tag: Tag
    key: Path
    checkout: Path
    url: str

    def run(self, *command: str, folder: Path | None = None, **variables: str) -> None:
        """Call a program in the sources, at the time of the tag. Raises BuildError."""
        environment = {
            **os.environ,
            "SOURCE_DATE_EPOCH": str(self.tag.epoch),
            "PYTHONHASHSEED": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            **variables,
        }
        done = subprocess.run(
            command,
            check=False,
            cwd=folder or self.sources,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if done.returncode:
            raise BuildError(
                f"{' '.join(command[:4])} failed: {done.stdout.strip()[-3000:]}",
                "see what it says above; `make setup` has all that it needs",
            )


def distributions(build: Build) -> None:
    """The source distribution, and the wheel that is built of it alone."""
    with tempfile.TemporaryDirectory(dir=build.sources.parent) as work:
        raw, top = Path(work, "raw"), Path(work, "top")
        raw.mkdir()
        build.run(sys.executable, "-c", _BUILD, "build_sdist", str(raw))
        (archive,) = raw.iterdir()
        folder = unpack(archive, top)
        pack(folder, folder.name, build.made / archive.name, build.tag.epoch)
        build.run(sys.executable, "-c", _BUILD, "build_wheel", str(build.made), folder=folder)


def packages(build: Build) -> None:
    """Debian packages of every release and architecture, what installs them, what is in them."""
    build.run(
        *(sys.executable, "-m", "deploy.raspberrypi.builder", "--output", str(build.made)),
        *("--sign", str(build.key), "--wheels", str(build.checkout / "build" / "wheels")),
    )
    bill = build.made / f"sosa-gateway_{build.tag.version}.cdx.json"
    text = release_bill(
        build.sources, sorted(build.made.glob("*.deb")), build.tag.version, build.tag.epoch
    )
    bill.write_text(text, encoding="utf-8")


def site(build: Build) -> None:
    """The documentation as a site, in a folder that has the version's name."""
    _take_pictures(build)
    with tempfile.TemporaryDirectory(dir=build.sources.parent) as folder:
        build.run(
            *(sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict"),
            *("--site-dir", folder),
            SITE_VERSION=build.tag.version,
        )
        name = f"sosa-gateway_{build.tag.version}_site.tar.gz"
        pack(Path(folder), build.tag.version, build.made / name, build.tag.epoch)


def require_pictures(build: Build) -> None:
    """Raises BuildError where the checkout lacks one that a page shows."""
    if lacking := missing(_pictures(build), build.checkout / SCREENSHOTS):
        raise BuildError(f"the site lacks pictures: {', '.join(lacking)}", "make pictures")


def _take_pictures(build: Build) -> None:
    """Copy the pictures that tests left in the checkout: a tag has none."""
    there = build.sources / SCREENSHOTS
    there.mkdir(parents=True)
    for name in _pictures(build):
        shutil.copyfile(build.checkout / SCREENSHOTS / name, there / name)


def _pictures(build: Build) -> set[str]:
    return named(path.read_text("utf-8") for path in build.sources.rglob("*.md"))


def require_image(build: Build) -> None:
    """Raises BuildError, before hours of work, where no image can be built here."""
    without = "or a release without the image: make release KEY=release.key IMAGE=no"
    try:
        require(*TOOLS)
        require_emulation(_IMAGE)
        if os.geteuid() != 0:
            raise BuildError("a root with its owners is made by root alone", "sudo")
    except BuildError as error:
        told = str(error).partition("\n")[0]
        raise BuildError(
            f"no image can be built: {told}", f"make emulators, and as root; {without}"
        ) from error
    if not build.url:
        raise BuildError(
            "nothing says where the image will be, which its manifest tells Imager",
            f"make release KEY=release.key URL=https://…; {without}",
        )


def image(build: Build) -> None:
    """An image to flash, with the package of this release in it."""
    (package,) = build.made.glob(f"*~deb13_{_IMAGE.architecture}.deb")
    build.run(
        *(sys.executable, "-m", "deploy.raspberrypi.builder.image", "--deb", str(package)),
        *("--arch", _IMAGE.architecture, "--output", str(build.made), "--url", build.url),
        *("--cache", str(build.checkout / "build" / "image")),
    )
