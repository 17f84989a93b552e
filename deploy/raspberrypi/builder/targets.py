"""`Target`: a Debian release on an architecture, with the wheels that run there.

Sources: PEP 600 (manylinux tags), PEP 425 (tags), PEP 508 (environment markers).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}
"""Debian's architectures, and what Python calls them. There is none of 32 bit: pyoxigraph, which
is the store, has no wheel for it."""


class Release(NamedTuple):
    """A Debian release: its number, its Python, the glibc that wheels may count on."""

    number: int
    python: str
    glibc: tuple[int, int]


RELEASES = {
    "bookworm": Release(12, "3.11", (2, 36)),
    "trixie": Release(13, "3.13", (2, 41)),
}


@dataclass(frozen=True, slots=True)
class Target:
    """Where a package is to run; `suite` and `architecture` as Debian names them."""

    suite: str
    architecture: str

    @property
    def release(self) -> Release:
        """What the suite has."""
        return RELEASES[self.suite]

    @property
    def machine(self) -> str:
        """As `uname -m` and wheels name it."""
        return MACHINES[self.architecture]

    @property
    def python(self) -> str:
        """Major and minor of the interpreter: "3.13"."""
        return self.release.python

    @property
    def name(self) -> str:
        """The wheels' name for interpreter and machine: "cp313-aarch64"."""
        return f"{self.abi}-{self.machine}"

    @property
    def abi(self) -> str:
        """CPython's, as wheels name it: "cp313"."""
        return f"cp{self.python.replace('.', '')}"

    def pip_options(self) -> tuple[str, ...]:
        """What has pip choose wheels of the target, whatever it runs on."""
        major, most = self.release.glibc
        platforms = [f"manylinux_{major}_{minor}_{self.machine}" for minor in range(most, 16, -1)]
        tags = [f"--platform={each}" for each in (*platforms, f"manylinux2014_{self.machine}")]
        abis = [f"--abi={each}" for each in (self.abi, "abi3", "none")]
        interpreter = ("--implementation=cp", f"--python-version={self.python}")
        return ("--only-binary=:all:", *interpreter, *abis, *tags)

    def markers(self) -> Mapping[str, str]:
        """The environment that conditions of requirements are judged by (PEP 508)."""
        return {
            "implementation_name": "cpython",
            "implementation_version": f"{self.python}.0",
            "os_name": "posix",
            "platform_machine": self.machine,
            "platform_python_implementation": "CPython",
            "platform_release": "",
            "platform_system": "Linux",
            "platform_version": "",
            "python_full_version": f"{self.python}.0",
            "python_version": self.python,
            "sys_platform": "linux",
            "extra": "",
        }
