"""`build-image`: an image to flash, with its sums, its bill of materials and Imager's manifest.

Place: deploy/raspberrypi/README.md says how it is called and what comes out.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from deploy.raspberrypi.builder.__main__ import CHECKOUT, build_deb, source_date_epoch
from deploy.raspberrypi.builder.errors import BuildError
from deploy.raspberrypi.builder.image.appliance import Owner, make_appliance, make_data
from deploy.raspberrypi.builder.image.base import base_root
from deploy.raspberrypi.builder.image.boot import lay_out_boot
from deploy.raspberrypi.builder.image.bytecode import COMPILED, compile_package, is_emulated
from deploy.raspberrypi.builder.image.commands import call, require
from deploy.raspberrypi.builder.image.contents import bill_of_materials
from deploy.raspberrypi.builder.image.disk import layout_for, write_disk
from deploy.raspberrypi.builder.image.flavours import FLAVOURS, SUITE, Flavour
from deploy.raspberrypi.builder.image.manifest import Packed, imager_manifest
from deploy.raspberrypi.builder.signing import private_key, public_pem, seal, sha256
from deploy.raspberrypi.builder.targets import MACHINES, Target
from gateway import __version__

TOOLS = (
    *("chroot", "debugfs", "dumpe2fs", "mcopy", "mformat", "mke2fs", "mmdebstrap", "sfdisk"),
    *("tar", "zstd"),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Build; the exit code."""
    options = _parser().parse_args(arguments)
    try:
        for path in build_image(options):
            sys.stdout.write(f"{path} {path.stat().st_size / 1e6:.1f} MB\n")
    except BuildError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("build-image", description="An image to flash.")
    add = parser.add_argument
    names = sorted({name for name, _ in FLAVOURS})
    add("--flavour", choices=names, default="debian", help="whose kernel; default: debian")
    add("--arch", choices=list(MACHINES), default="arm64", help="amd64: to try; default: arm64")
    add("--output", type=Path, default=CHECKOUT / "dist" / "image", metavar="FOLDER")
    cache = CHECKOUT / "build" / "image"
    add("--cache", type=Path, default=cache, metavar="FOLDER", help="default: build/image")
    add("--fresh", action="store_true", help="make the base root anew: with what Debian mended")
    add("--deb", type=Path, metavar="FILE", help="this package, in place of one of this checkout")
    wheels = CHECKOUT / "build" / "wheels"
    add("--wheels", type=Path, default=wheels, metavar="FOLDER", help="default: build/wheels")
    add("--offline", action="store_true", help="ask no index: take the wheels of an earlier build")
    add("--rpi-keyring", type=Path, metavar="FILE", help="keys of Raspberry Pi's archive")
    add("--sign", type=Path, metavar="FILE", help="the Ed25519 key (PEM) that signs the sums")
    add("--url", default="", metavar="URL", help="where the manifest says that the image will be")
    add("--raw", action="store_true", help="also leave the image as it is, not compressed")
    return parser


def build_image(options: argparse.Namespace) -> list[Path]:
    """The files made. Raises BuildError, and leaves nothing behind but the base root and wheels."""
    flavour = FLAVOURS.get((options.flavour, options.arch))
    if flavour is None:
        raise BuildError(
            f"there is no image of flavour {options.flavour} for {options.arch}",
            "leave out --arch; amd64 is for trying, with --flavour debian",
        )
    require(*TOOLS)
    if os.geteuid() != 0:
        raise BuildError("a root with its owners is made by root alone", "sudo, and the same again")
    key = private_key(options.sign) if options.sign else None
    options.release_key = public_pem(key) if key else b""
    epoch = source_date_epoch(CHECKOUT)
    base = base_root(flavour, options.cache, options.rpi_keyring, fresh=options.fresh)
    options.output.mkdir(parents=True, exist_ok=True)
    # Beside what is kept: a root has some GB, which a /tmp in memory has not.
    with tempfile.TemporaryDirectory(prefix="work-", dir=options.cache) as folder:
        made = _build(flavour, base, Path(folder), epoch, options)
    seal(options.output, (path for path in made if path.suffix != ".img"), key)
    return made


def _build(
    flavour: Flavour, base: Path, work: Path, epoch: int, options: argparse.Namespace
) -> list[Path]:
    folders = boot, root, data = work / "boot", work / "root", work / "data"
    for folder in folders:
        folder.mkdir(mode=0o755)
    call("tar", "-C", str(root), "--xattrs", "--numeric-owner", "-xf", str(base))
    package = options.deb or _package(flavour, work, epoch, options)
    _install(package, root, flavour, options.cache)
    lay_out_boot(root, flavour, boot)
    make_appliance(root, flavour, __version__, epoch)
    make_data(data, Owner(root))
    name = f"sosa-gateway_{__version__}_{flavour.name}_{flavour.architecture}"
    image = options.output / f"{name}.img"
    write_disk(image, layout_for(root), folders, epoch)
    bill = options.output / f"{name}.cdx.json"
    bill.write_text(bill_of_materials(root, name, __version__, epoch), encoding="utf-8")
    return [*_packed(image, flavour, epoch, options), bill]


def _package(flavour: Flavour, work: Path, epoch: int, options: argparse.Namespace) -> Path:
    told = argparse.Namespace(**{**vars(options), "output": work})
    return build_deb(Target(SUITE, flavour.architecture), epoch, told)


def _install(package: Path, root: Path, flavour: Flavour, cache: Path) -> None:
    """As the device itself would, so that its scripts do what they do everywhere."""
    there = root / "tmp" / "sosa-gateway.deb"
    there.write_bytes(package.read_bytes())
    dpkg = ("chroot", str(root), "dpkg")
    hint = "take a package of this release and architecture"
    try:
        call(*dpkg, "--unpack", "/tmp/sosa-gateway.deb", hint=hint)  # noqa: S108
    finally:
        there.unlink()
    said: dict[str, str] = {}
    if is_emulated(flavour):
        compile_package(root, cache)
        said = {COMPILED: "yes"}
    call(*dpkg, "--configure", "sosa-gateway", hint=hint, variables=said)


def _packed(image: Path, flavour: Flavour, epoch: int, options: argparse.Namespace) -> list[Path]:
    """The compressed image and, where the board is a Raspberry Pi, Imager's manifest."""
    archive = image.with_suffix(".img.zst")
    call("zstd", "--quiet", "--force", "-T0", "-6", str(image), "-o", str(archive))
    sizes = image.stat().st_size, archive.stat().st_size
    packed = Packed(sizes[0], sha256(image), sizes[1], sha256(archive))
    made = [archive]
    if flavour.models:
        url = (
            f"{options.url.rstrip('/')}/{archive.name}"
            if options.url
            else archive.resolve().as_uri()
        )
        manifest = image.with_suffix(".rpi-imager-manifest")
        manifest.write_text(
            imager_manifest(flavour, __version__, url, packed, epoch), encoding="utf-8"
        )
        made.append(manifest)
    if options.raw:
        made.append(image)
    else:
        image.unlink()
    return made


if __name__ == "__main__":
    sys.exit(main())
