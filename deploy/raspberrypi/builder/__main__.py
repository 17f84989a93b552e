"""`build-deb`: packages for the Debian releases and architectures that are asked for.

Place: deploy/raspberrypi/README.md says how it is called and what comes out.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from deploy.raspberrypi.builder.archive import complete, pack
from deploy.raspberrypi.builder.errors import BuildError
from deploy.raspberrypi.builder.signing import private_key, public_pem
from deploy.raspberrypi.builder.site import add_product
from deploy.raspberrypi.builder.targets import MACHINES, RELEASES, Target
from deploy.raspberrypi.builder.tree import Contents, installed_kib, lay_out, site_packages
from deploy.raspberrypi.builder.wheels import fetch, install
from gateway import __version__
from gateway.cli.command import documented

CHECKOUT = Path(__file__).parents[3]
MOST_KIB = 150 * 1024
"""As it is unpacked: the bytecode that is made then takes some 45 MiB more, 200 are the bound."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Build; the exit code."""
    options = _parser().parse_args(arguments)
    try:
        key = private_key(options.sign) if options.sign else None
        options.release_key = public_pem(key) if key else b""
        epoch = source_date_epoch(CHECKOUT)
        build = partial(build_deb, epoch=epoch, options=options)
        made = [
            told(build(Target(suite, architecture)))
            for suite in options.suite
            for architecture in options.arch
        ]
        complete(options.output, made, key)
    except BuildError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


def told(made: Path) -> Path:
    """The same file, after its name and size were printed."""
    sys.stdout.write(f"{made} {made.stat().st_size / 1e6:.1f} MB\n")
    return made


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("build-deb", description="Debian packages of this checkout.")
    add = parser.add_argument
    add("--arch", nargs="+", choices=list(MACHINES), default=list(MACHINES), help="default: all")
    add("--suite", nargs="+", choices=list(RELEASES), default=list(RELEASES), help="default: all")
    add("--output", type=Path, default=CHECKOUT / "dist", metavar="FOLDER", help="default: dist")
    wheels = CHECKOUT / "build" / "wheels"
    add("--wheels", type=Path, default=wheels, metavar="FOLDER", help="default: build/wheels")
    add("--offline", action="store_true", help="ask no index: take the wheels of an earlier build")
    add("--sign", type=Path, metavar="FILE", help="the Ed25519 key (PEM) that signs the packages")
    return parser


def source_date_epoch(checkout: Path) -> int:
    """When the sources were made: SOURCE_DATE_EPOCH, else the last commit. Raises BuildError."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    if not given:
        command = ("git", "-C", str(checkout), "log", "-1", "--format=%ct")
        given = subprocess.run(command, check=False, capture_output=True, text=True).stdout.strip()
    if not given.isdigit():
        raise BuildError(
            "nothing says when these sources were made",
            "build in a git checkout, or set SOURCE_DATE_EPOCH to seconds since 1970",
        )
    return int(given)


def build_deb(target: Target, epoch: int, options: argparse.Namespace) -> Path:
    """The package of one target. Raises BuildError, and leaves nothing behind but wheels."""
    wheels = fetch(CHECKOUT, target, options.wheels, offline=options.offline)
    commands = list(documented())
    contents = Contents(target, __version__, epoch, CHECKOUT, commands, options.release_key)
    with tempfile.TemporaryDirectory(prefix="sosa-gateway-deb-") as folder:
        root = Path(folder, "root")
        site = root / site_packages(target)
        site.mkdir(parents=True)
        install(wheels, target, site)
        add_product(CHECKOUT, site)
        lay_out(root, contents)
        size, most = installed_kib(root) // 1024, MOST_KIB // 1024
        if size >= most:
            raise BuildError(
                f"{size} MiB would be unpacked, more than {most}",
                "leave out what a device does not use (deploy/raspberrypi/builder/site.py)",
            )
        return pack(root, contents, options.output)


if __name__ == "__main__":
    sys.exit(main())
