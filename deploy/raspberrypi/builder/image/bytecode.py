"""The bytecode of an image for another processor, made by this one: it is the same for both.

Emulated it takes minutes, most of an image made of a kept root. The interpreter is Debian's
of the image's own release, for this machine, in a root of nothing else that is made once and kept.
Sources: mmdebstrap(1), "--variant=extract"; Python, "compileall" and "marshal": the form of
bytecode goes with the version of Python alone.
"""

import os
import shutil
from pathlib import Path

from deploy.raspberrypi.builder.image.commands import call
from deploy.raspberrypi.builder.image.flavours import SUITE, Flavour
from deploy.raspberrypi.builder.targets import MACHINES, RELEASES
from deploy.raspberrypi.builder.tree import LIB

_PYTHON = f"python{RELEASES[SUITE].python}"
_PACKAGES = ("base-files", f"{_PYTHON}-minimal", f"lib{_PYTHON}-stdlib")
_COMPILE = ("-I", "-m", "compileall", "-q", "-f", "--invalidation-mode", "unchecked-hash")
"""As the package's postinst has it."""

COMPILED = "SOSA_GATEWAY_COMPILED"
"""Set, the package's postinst finds all of it done."""


def is_emulated(flavour: Flavour) -> bool:
    """Whether this machine's processor is another one."""
    return os.uname().machine != MACHINES[flavour.architecture]


def compile_package(root: Path, cache: Path) -> None:
    """Compile what the package has unpacked in a root. Raises BuildError.

    The files go where the interpreter is, and back: bytecode notes the path that they have there.
    """
    tools = root.with_name("tools")
    tools.mkdir()
    call("tar", "-C", str(tools), "-xf", str(_interpreter(cache)))
    (tools / LIB).parent.mkdir(parents=True, exist_ok=True)
    (root / LIB).rename(tools / LIB)
    call("chroot", str(tools), f"/usr/bin/{_PYTHON}", *_COMPILE, f"/{LIB}/venv/lib")
    (tools / LIB).rename(root / LIB)
    shutil.rmtree(tools)


def _interpreter(cache: Path) -> Path:
    """A tar archive of a root with nothing but Python. Raises BuildError."""
    tar = cache / f"{SUITE}-{os.uname().machine}-{_PYTHON}.tar"
    if not tar.exists():
        cache.mkdir(parents=True, exist_ok=True)
        unfinished = tar.with_suffix(".unfinished.tar")
        packages = f"--include={','.join(_PACKAGES)}"
        call("mmdebstrap", "--variant=extract", packages, SUITE, str(unfinished), hint=_HINT)
        unfinished.rename(tar)
    return tar


_HINT = "let this machine reach a mirror of Debian, and be root (sudo)"
