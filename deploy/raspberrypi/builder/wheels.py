"""Wheels: those of the product's dependencies for a target, fetched once, put into a folder.

pip resolves for another machine, but judges the conditions of requirements by the one it runs on;
so `unmet` asks each requirement of each wheel again, with the target's environment.
"""

import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from email.parser import HeaderParser
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename
from packaging.version import Version

from deploy.raspberrypi.builder.errors import BuildError
from deploy.raspberrypi.builder.native import ELF_64_LITTLE
from deploy.raspberrypi.builder.targets import Target

EXTRAS = ("try", "ship", "modbus", "federation")
"""What a device can use beyond the base; Spark and its Java belong to the archive's machine."""

_E_MACHINE = {"x86_64": 62, "aarch64": 183}
"""System V Application Binary Interface, "ELF Header"; its supplements for both processors."""

_PIP = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")


def requirements(checkout: Path, target: Target) -> list[str]:
    """What a device needs, as pyproject.toml asks for it where the target's conditions hold."""
    text = (checkout / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]
    listed = list(project["dependencies"])
    for extra in EXTRAS:
        listed += project["optional-dependencies"].get(extra, ())
    asked = [Requirement(line) for line in listed]
    return [_bare(each) for each in asked if _holds(each, target)]


def fetch(checkout: Path, target: Target, folder: Path, *, offline: bool = False) -> list[Path]:
    """The wheels of a target at the versions of constraints.txt, in a folder of their own.

    Offline, those that an earlier build left there are taken. Raises BuildError.
    """
    wheels = folder / target.name
    wheels.mkdir(parents=True, exist_ok=True)
    where = ("--no-index", f"--find-links={wheels}") if offline else ()
    fresh = wheels / "fresh"
    shutil.rmtree(fresh, ignore_errors=True)
    wanted = ("--constraint", str(checkout / "constraints.txt"), *requirements(checkout, target))
    _pip("download", *where, "--dest", str(fresh), *target.pip_options(), *wanted)
    chosen = sorted(path.name for path in fresh.glob("*.whl"))
    for old in wheels.glob("*.whl"):
        old.unlink()
    for name in chosen:
        (fresh / name).rename(wheels / name)
    fresh.rmdir()
    return [wheels / name for name in chosen]


def install(wheels: Sequence[Path], target: Target, site: Path) -> None:
    """Put wheels into a folder of packages, not compiled. Raises BuildError.

    By name, not by path: pip would note the path of each, which is this machine's.
    """
    pins = [f"{name}=={version}" for name, version, _, _ in map(_parsed, wheels)]
    folders = sorted({f"--find-links={path.parent}" for path in wheels})
    local = ("--no-index", *folders, "--no-deps", "--no-compile")
    _pip("install", *local, "--target", str(site), *target.pip_options(), *pins)
    missing = list(unmet(site, target))
    if missing:
        raise BuildError(
            f"the target needs what is not there: {', '.join(missing)}",
            "name it in pyproject.toml or pin it in constraints.txt",
        )
    foreign = list(of_another_machine(site, target))
    if foreign:
        raise BuildError(
            f"not made for {target.machine}: {', '.join(foreign)}",
            "remove the folder of wheels (build/wheels) and build again",
        )


def unmet(site: Path, target: Target) -> Iterator[str]:
    """Requirements of what lies in a folder of packages that nothing there meets."""
    heads = [HeaderParser().parsestr(path.read_text("utf-8")) for path in _metadata(site)]
    there = {canonicalize_name(head["Name"]): Version(head["Version"]) for head in heads}
    for head in heads:
        for line in head.get_all("Requires-Dist") or ():
            asked = Requirement(line)
            version = there.get(canonicalize_name(asked.name))
            if _holds(asked, target) and (version is None or version not in asked.specifier):
                yield f"{_bare(asked)} (asked for by {head['Name']})"


def of_another_machine(site: Path, target: Target) -> Iterator[str]:
    """Native modules that the target could not load, by the head of each (ELF, e_machine)."""
    for path in sorted(site.rglob("*.so*")):
        with path.open("rb") as file:
            head = file.read(20)
        is_native = head.startswith(ELF_64_LITTLE) and len(head) == 20
        if not is_native or int.from_bytes(head[18:], "little") != _E_MACHINE[target.machine]:
            yield str(path.relative_to(site))


def _metadata(site: Path) -> list[Path]:
    return sorted(site.glob("*.dist-info/METADATA"))


def _parsed(wheel: Path) -> tuple[str, Version, object, object]:
    return parse_wheel_filename(wheel.name)


def _holds(asked: Requirement, target: Target) -> bool:
    return asked.marker is None or asked.marker.evaluate(dict(target.markers()))


def _bare(asked: Requirement) -> str:
    """Without its condition, which holds."""
    extras = f"[{','.join(sorted(asked.extras))}]" if asked.extras else ""
    return f"{asked.name}{extras}{asked.specifier}"


def _pip(*arguments: str) -> None:
    done = subprocess.run((*_PIP, *arguments), check=False, capture_output=True, text=True)
    if done.returncode:
        told = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise BuildError(
            "\n".join(told) or done.stderr.strip(),
            "let this machine reach an index of packages, or build without --offline once",
        )
