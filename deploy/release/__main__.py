"""`make release`: builds what is published of the tag that is checked out, and signs its sums."""

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from deploy.raspberrypi.builder.errors import BuildError
from deploy.raspberrypi.builder.signing import SIGNATURE, SUMS, private_key, seal
from deploy.release.parts import (
    Build,
    distributions,
    image,
    packages,
    require_image,
    require_pictures,
    site,
)
from deploy.release.tag import export, tagged

CHECKOUT = Path(__file__).parents[2]
PARTS: Mapping[str, Callable[[Build], None]] = {
    "wheel": distributions,
    "deb": packages,
    "site": site,
    "image": image,
}
"""In the order in which they are built: the image takes a package that is there by then."""

REQUIRED: Mapping[str, Callable[[Build], None]] = {"site": require_pictures, "image": require_image}
"""What is looked at before anything is built."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Build; the exit code."""
    options = _parser().parse_args(arguments)
    os.umask(0o022)
    try:
        folder = release(options)
    except BuildError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    for path in sorted(folder.iterdir()):
        sys.stdout.write(f"{path} {path.stat().st_size / 1e6:.1f} MB\n")
    left_out = [part for part in PARTS if part not in options.parts]
    if left_out:
        sys.stdout.write(f"left out, as asked for: {', '.join(left_out)}\n")
    return 0


def release(options: argparse.Namespace) -> Path:
    """The folder with what was built; it is there whole, or not at all. Raises BuildError."""
    tag = tagged(options.checkout)
    if options.key is None:
        raise BuildError("nothing says who signs", "make release KEY=release.key")
    key = private_key(options.key)
    there: Path = options.output / tag.version
    there.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".release-", dir=options.output) as work:
        sources, made = Path(work, "sources"), Path(work, "made")
        made.mkdir()
        export(options.checkout, tag, sources)
        build = Build(sources, made, tag, options.key.resolve(), options.checkout, options.url)
        for part, require in REQUIRED.items():
            if part in options.parts:
                require(build)
        for part, built_by in PARTS.items():
            if part in options.parts:
                sys.stdout.write(f"{part} …\n")
                sys.stdout.flush()
                built_by(build)
        (made / SUMS).unlink(missing_ok=True)
        files = [path for path in made.iterdir() if path.name != SIGNATURE]
        seal(made, files, key)
        shutil.rmtree(there, ignore_errors=True)
        made.rename(there)
    return there


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("make release", description="What is published of a tag.")
    add = parser.add_argument
    add("--checkout", type=Path, default=CHECKOUT, metavar="FOLDER", help="default: this one")
    add("--key", type=Path, metavar="FILE", help="the Ed25519 key (PEM) that signs")
    add("--output", type=Path, default=CHECKOUT / "dist", metavar="FOLDER", help="default: dist")
    add("--url", default="", metavar="URL", help="of the folder where it will be published")
    add("--parts", nargs="+", choices=list(PARTS), default=list(PARTS), help="default: all")
    return parser


if __name__ == "__main__":
    sys.exit(main())
