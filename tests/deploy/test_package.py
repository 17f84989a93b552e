"""The Debian package: what lies where, the same bytes for the same sources, words that complete."""

import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvloop.loop

from deploy.raspberrypi.builder.archive import pack
from deploy.raspberrypi.builder.errors import BuildError
from deploy.raspberrypi.builder.manual import command_page, completion
from deploy.raspberrypi.builder.native import strip, stripped
from deploy.raspberrypi.builder.site import add_product, slim
from deploy.raspberrypi.builder.targets import Target
from deploy.raspberrypi.builder.tree import (
    DEBIAN,
    Contents,
    configuration,
    lay_out,
    site_packages,
)
from deploy.raspberrypi.builder.wheels import of_another_machine, requirements, unmet
from gateway.cli.options import Documented
from gateway.cli.verbs import VERBS
from gateway.config.settings import Config
from tests.paths import ROOT

TRIXIE = Target("trixie", "arm64")
EPOCH = 1_700_000_000
VERSION = "1.2.3"
SERVICE = "usr/lib/systemd/system/sosa-gateway.service"


def distribution(site: Path, name: str, version: str, *needs: str) -> None:
    folder = site / f"{name}-{version}.dist-info"
    folder.mkdir(parents=True)
    lines = [f"Name: {name}", f"Version: {version}", *(f"Requires-Dist: {need}" for need in needs)]
    (folder / "METADATA").write_text("\n".join(lines) + "\n\nwords\n")


def laid_out(root: Path, commands: list[Documented], target: Target = TRIXIE) -> Contents:
    """A root with a small folder of packages, as a build would have it."""
    contents = Contents(target, VERSION, EPOCH, ROOT, commands)
    site = root / site_packages(target)
    distribution(site, "some", "1.0")
    (site / "some").mkdir()
    (site / "some" / "native.so").write_bytes(b"\x7fELF")
    (site / "some" / "native.so").chmod(0o755)
    (site / "bin").mkdir()
    (site / "bin" / "some-command").write_text("#!/builder/python\n")
    lay_out(root, contents)
    return contents


def dpkg(option: str, package: Path) -> str:
    command = ("dpkg-deb", option, str(package))
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory, commands: list[Documented]) -> Path:
    folder = tmp_path_factory.mktemp("package")
    return pack(folder / "root", laid_out(folder / "root", commands), folder / "dist")


def listed(package: Path) -> dict[str, tuple[str, str]]:
    """Path to mode and owner, links with what they lead to."""
    rows = (line.split(None, 5) for line in dpkg("--contents", package).splitlines())
    return {row[5].removeprefix("./"): (row[0], row[1]) for row in rows}


def test_everything_lies_where_debian_has_it(package: Path) -> None:
    files = listed(package)
    assert {
        "etc/sosa-gateway/gateway.toml",
        "usr/bin/sosa-gateway",
        "usr/lib/sosa-gateway/version",
        "var/lib/sosa-gateway-slots/",
        "usr/lib/systemd/system/sosa-gateway-upgrade.service",
        SERVICE,
        "usr/lib/sysusers.d/sosa-gateway.conf",
        "usr/lib/tmpfiles.d/sosa-gateway.conf",
        "usr/share/bash-completion/completions/sosa-gateway",
        "usr/share/doc/sosa-gateway/changelog.Debian.gz",
        "usr/share/doc/sosa-gateway/copyright",
        "usr/share/lintian/overrides/sosa-gateway",
        "usr/share/man/man1/sosa-gateway.1.gz",
        "usr/share/man/man5/sosa-gateway.toml.5.gz",
        "usr/lib/sosa-gateway/venv/lib/python3.13/site-packages/some/native.so",
        "usr/lib/sosa-gateway/venv/bin/python3 -> ../../../../bin/python3.13",
    } <= files.keys()
    assert {owner for _, owner in files.values()} == {"root/root"}
    modes = {mode for name, (mode, _) in files.items() if "->" not in name}
    assert modes == {"drwxr-xr-x", "-rw-r--r--", "-rwxr-xr-x"}
    runs = [name for name, (mode, _) in files.items() if mode == "-rwxr-xr-x"]
    assert runs == ["usr/bin/sosa-gateway"]
    assert not [name for name in files if "__pycache__" in name or "some-command" in name]


def test_control_says_where_it_runs_and_keeps_the_settings(package: Path, tmp_path: Path) -> None:
    fields = dpkg("--field", package)
    assert package.name == "sosa-gateway_1.2.3-1~deb13_arm64.deb"
    assert "Architecture: arm64" in fields
    assert "Depends: python3.13, libc6 (>= 2.28)" in fields
    assert "@" not in fields.replace("maintainers@sosa-gateway.example", "")
    subprocess.run(("dpkg-deb", "--control", str(package), str(tmp_path / "c")), check=True)
    control = tmp_path / "c"
    assert (control / "conffiles").read_text() == "/etc/sosa-gateway/gateway.toml\n"
    sums = (control / "md5sums").read_text()
    assert SERVICE in sums
    assert "etc/" not in sums
    for script in ("postinst", "prerm", "postrm"):
        subprocess.run(("sh", "-n", str(control / script)), check=True)


def test_the_same_sources_give_the_same_bytes(
    package: Path, tmp_path: Path, commands: list[Documented]
) -> None:
    again = pack(tmp_path / "root", laid_out(tmp_path / "root", commands), tmp_path / "dist")
    assert again.read_bytes() == package.read_bytes()


def test_a_package_of_a_newer_debian_replaces_that_of_an_older_one() -> None:
    older, newer = ("1.2.3-1~deb12", "1.2.3-1~deb13")
    for first, second in ((older, newer), (newer, "1.2.4-1~deb12"), (newer, "1.2.3-1")):
        subprocess.run(("dpkg", "--compare-versions", first, "lt", second), check=True)


def test_the_settings_are_the_defaults_but_for_the_folders() -> None:
    config = Config.model_validate(tomllib.loads(configuration(ROOT)))
    assert str(config.gateway.data_dir) == "/var/lib/sosa-gateway"
    folder = Path("/var/lib/sosa-gateway-mosquitto")
    mqtt = Config().mqtt.model_copy(update={"mosquitto_dir": folder})
    assert config == Config().model_copy(update={"gateway": config.gateway, "mqtt": mqtt})


def test_a_signed_release_brings_the_key_of_those_that_follow(
    tmp_path: Path, commands: list[Documented]
) -> None:
    contents = Contents(TRIXIE, VERSION, EPOCH, ROOT, commands, b"-----BEGIN PUBLIC KEY-----\n")
    (tmp_path / site_packages(TRIXIE)).mkdir(parents=True)
    lay_out(tmp_path, contents)
    key = tmp_path / "usr/share/sosa-gateway/release-key.pem"
    assert key.read_text() == "-----BEGIN PUBLIC KEY-----\n"


def test_settings_without_a_folder_of_data_are_refused(tmp_path: Path) -> None:
    (tmp_path / "gateway.example.toml").write_text("[gateway]\n")
    with pytest.raises(BuildError, match="no data_dir"):
        configuration(tmp_path)


def test_the_manual_has_every_command(commands: list[Documented]) -> None:
    page = command_page(commands, VERSION, EPOCH)
    for verb in VERBS:
        assert f".SS {verb.replace('-', chr(92) + '-')}\n" in page
    assert ".SS client add\n" in page
    assert '"2023\\-11\\-14"' in page or '"2023-11-14"' in page
    assert not [line for line in page.splitlines() if line.startswith("'")]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("cl",), {"claim", "client"}),
        (("client", ""), {"add", "change", "list", "renew", "revoke"}),
        (("client", "add", "--ki"), {"--kind"}),
        (("run", "--c"), {"--config"}),
        (("no-such-command", "x"), set()),
    ],
)
def test_bash_completes(
    commands: list[Documented], words: tuple[str, ...], expected: set[str]
) -> None:
    quoted = " ".join(f"'{word}'" for word in ("sosa-gateway", *words))
    script = completion(commands) + (
        f"\nCOMP_WORDS=({quoted}); COMP_CWORD={len(words)}; _sosa_gateway; "
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ("bash", "-c", script), check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    assert set(done.stdout.split()) == expected


def test_what_the_target_needs_is_asked_by_its_own_environment(tmp_path: Path) -> None:
    distribution(tmp_path, "top", "1.0", 'old ; python_version < "3.12"', 'tests; extra == "dev"')
    assert list(unmet(tmp_path, Target("trixie", "arm64"))) == []
    assert list(unmet(tmp_path, Target("bookworm", "arm64"))) == ["old (asked for by top)"]
    distribution(tmp_path, "old", "2.0")
    assert list(unmet(tmp_path, Target("bookworm", "arm64"))) == []
    distribution(tmp_path, "picky", "1.0", "old>=3")
    assert list(unmet(tmp_path, Target("trixie", "amd64"))) == ["old>=3 (asked for by picky)"]


def native(machine: int) -> bytes:
    return b"\x7fELF\x02\x01".ljust(18, b"\0") + machine.to_bytes(2, "little")


def test_native_modules_of_another_machine_are_found(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "one.cpython-313-aarch64-linux-gnu.so").write_bytes(native(183))
    assert list(of_another_machine(tmp_path, Target("trixie", "arm64"))) == []
    assert list(of_another_machine(tmp_path, Target("trixie", "amd64"))) == [
        "deep/one.cpython-313-aarch64-linux-gnu.so"
    ]
    (tmp_path / "short.so.1").write_bytes(b"\x7fELF")
    assert list(of_another_machine(tmp_path, Target("trixie", "arm64"))) == ["short.so.1"]


def test_a_device_gets_base_and_extras_but_not_spark() -> None:
    names = " ".join(requirements(ROOT, TRIXIE))
    assert all(
        name in names
        for name in (
            "pyoxigraph",
            "uvloop",
            "pyshacl",
            "s3fs",
            "sshfs",
            "pymodbus",
            "eclipse-zenoh",
        )
    )
    assert "pyspark" not in names
    assert "pytest" not in names


def built_page(checkout: Path) -> None:
    for name in ("adapters", "gateway", "jsap", "ontologies", "spark_batch"):
        (checkout / name / "__pycache__").mkdir(parents=True)
        (checkout / name / "__init__.py").write_text("")
    page = checkout / "gateway" / "dashboard"
    for folder, file in (("static", "index.html"), ("web", "main.tsx")):
        (page / folder).mkdir(parents=True)
        (page / folder / file).write_text("")
    (checkout / "pyproject.toml").write_text('[project]\nname = "sosa-gateway"\nversion = "9"\n')


def test_the_product_comes_with_its_page_and_without_its_sources(tmp_path: Path) -> None:
    built_page(tmp_path / "checkout")
    site = tmp_path / "site"
    site.mkdir()
    add_product(tmp_path / "checkout", site)
    assert (site / "gateway/dashboard/static/index.html").exists()
    assert not (site / "gateway/dashboard/web").exists()
    assert not list(site.rglob("__pycache__"))
    assert "Version: 9\n" in (site / "sosa_gateway-9.dist-info/METADATA").read_text()


def test_without_a_built_page_there_is_no_package(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="make dashboard"):
        add_product(tmp_path, tmp_path / "site")


def folders(root: Path) -> Iterator[str]:
    return (str(path.relative_to(root)) for path in root.rglob("*") if path.is_dir())


def test_services_that_nobody_calls_are_left_out(tmp_path: Path) -> None:
    for name in (
        "botocore/data/s3/2006",
        "botocore/data/ec2/2016",
        "some/tests",
        "some/deep/tests",
    ):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "some/tests/__init__.py").write_text("")
    (tmp_path / "botocore/data/endpoints.json").write_text("{}")
    slim(tmp_path)
    left = set(folders(tmp_path))
    assert {"botocore/data/s3/2006", "some/deep/tests"} <= left
    assert not {"botocore/data/ec2", "some/tests"} & left
    assert (tmp_path / "botocore/data/endpoints.json").exists()


def test_what_nothing_opens_is_left_out(tmp_path: Path) -> None:
    stays = (
        "uvloop/loop.so",
        "uvloop/__init__.py",
        "pyshacl/assets/shacl.pickle",
        "pygments/lexers/__init__.py",
        "pygments/lexers/_mapping.py",
        "pygments/lexers/python.py",
        "rdflib/tools/__init__.py",
        "adapters/rules.ttl",
        "gateway/lexers/rust.py",
        "amqtt-1.dist-info/entry_points.txt",
    )
    goes = (
        "amqtt-1.dist-info/RECORD",
        "uvloop/loop.pyx",
        "uvloop/includes/uv.pxd",
        "pyshacl/assets/schema.pickle",
        "pyshacl/assets/dash.ttl",
        "pygments/lexers/rust.py",
        "rdflib/tools/csv2rdf.py",
        "rdflib/contrib/graphdb/client.py",
    )
    for name in (*stays, *goes):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    slim(tmp_path)
    left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert left == set(stays)


def test_a_native_module_loads_without_what_debuggers_read(tmp_path: Path) -> None:
    whole = Path(uvloop.loop.__file__)
    copy = tmp_path / whole.name
    copy.write_bytes(whole.read_bytes())
    strip(copy)
    assert copy.stat().st_size < whole.stat().st_size / 2
    assert stripped(copy.read_bytes()) == copy.read_bytes()
    load = f"""
import sys
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
import uvloop
spec = spec_from_file_location("uvloop.loop", {str(copy)!r})
module = module_from_spec(spec)
spec.loader.exec_module(module)
loop = module.Loop()
loop.call_soon(loop.stop)
loop.run_forever()
print(module.__file__)
loop.close()
"""
    command = (sys.executable, "-c", load)
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert told.strip() == str(copy)


def test_what_is_no_module_keeps_its_bytes(tmp_path: Path) -> None:
    file = tmp_path / "library.so"
    file.write_bytes(b"/* GNU ld script */ GROUP ( libc.so.6 )")
    strip(file)
    assert file.read_bytes().startswith(b"/* GNU")


def test_every_override_of_lintian_has_its_reason() -> None:
    lines = (DEBIAN / "lintian-overrides").read_text().splitlines()
    overrides = [number for number, line in enumerate(lines) if not line.startswith("#")]
    assert overrides
    for number in overrides:
        before = next(line for line in reversed(lines[:number]) if line.startswith("#"))
        assert len(before) > 20
