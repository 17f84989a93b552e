"""`make release`: of a tag alone, the same bytes twice, and what a person is told who cannot."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_public_key,
)
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from deploy.raspberrypi.builder.signing import SIGNATURE, SUMS, public_pem
from deploy.release import parts
from deploy.release.__main__ import main
from deploy.release.materials import page_components
from deploy.release.tarball import pack
from deploy.site.pictures import SCREENSHOTS, named
from gateway import __version__
from tests.paths import ROOT

KEY = Ed25519PrivateKey.generate()
PAGE = "gateway/dashboard/static"


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=tests", "-c", "user.email=tests@example.org")
    command = ("git", "-C", str(folder), *who, *words)
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def checkout(folder: Path, without: str = "none") -> Path:
    """This tree as a repository of its own, its version released and tagged; its page is built.

    `without` is the name of a folder that is left out.
    """
    try:
        listed = git(ROOT, "ls-files", "-co", "--exclude-standard", "-z").split("\0")
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("no git checkout")
    for name in filter(None, listed):
        if (ROOT / name).is_file() and not name.startswith(f"{without}/"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    page = folder / PAGE
    if (ROOT / PAGE / "index.html").exists():
        shutil.copytree(ROOT / PAGE, page)
    else:
        page.mkdir()
        (page / "index.html").write_text("a page")
    log = folder / "CHANGELOG.md"
    log.write_text(log.read_text().replace("## [Unreleased]", f"## [{__version__}] - 2026-11-27"))
    for name in named(page.read_text() for page in folder.rglob("*.md")):
        (folder / SCREENSHOTS / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / SCREENSHOTS / name).write_bytes(b"a picture")
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "a release", "--date", "2026-11-27T12:00:00Z")
    git(folder, "tag", f"v{__version__}")
    return folder


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("key") / "release.key"
    pem = KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    file.write_bytes(pem)
    return file


def release(sources: Path, key: Path, output: Path, *parts: str) -> Path:
    command = (sys.executable, "-m", "deploy.release", "--checkout", str(sources))
    told = ("--key", str(key), "--output", str(output), "--parts", *parts)
    done = subprocess.run((*command, *told), check=False, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "left out, as asked for: " in done.stdout
    assert [path.name for path in output.iterdir()] == [__version__]
    return output / __version__


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def verify(folder: Path) -> None:
    """As whoever takes it does: signed sums, and a line for every file."""
    sums = (folder / SUMS).read_bytes()
    public = load_pem_public_key(public_pem(KEY))
    public.verify((folder / SIGNATURE).read_bytes(), sums)  # type: ignore[call-arg, union-attr]
    subprocess.run(("sha256sum", "--check", "--quiet", "--strict", SUMS), cwd=folder, check=True)
    listed = {line.split()[1] for line in sums.decode().splitlines()}
    assert listed == {path.name for path in folder.iterdir()} - {SUMS, SIGNATURE}


def test_wheel_and_sources_are_the_same_bytes_twice(key: Path, tmp_path: Path) -> None:
    sources = checkout(tmp_path / "sources", without="tests")
    first = contents(release(sources, key, tmp_path / "one", "wheel"))
    # Zip archives have times of two seconds: a clock that shows in them has gone on by then.
    time.sleep(2)
    second = release(sources, key, tmp_path / "of-another-name", "wheel")
    assert contents(second) == first
    verify(second)
    names = {f"sosa_gateway-{__version__}-py3-none-any.whl", f"sosa_gateway-{__version__}.tar.gz"}
    assert names < first.keys()


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_all_parts_are_the_same_bytes_twice(key: Path, tmp_path: Path) -> None:
    sources = checkout(tmp_path / "sources")
    parts = ("wheel", "deb", "site")
    first = contents(release(sources, key, tmp_path / "one", *parts))
    second = release(sources, key, tmp_path / "two", *parts)
    assert {name for name, each in contents(second).items() if first[name] != each} == set()
    assert contents(second).keys() == first.keys()
    verify(second)
    assert len([name for name in first if name.endswith(".deb")]) == 4
    bill = first[f"sosa-gateway_{__version__}.cdx.json"].decode()
    assert JsonStrictValidator(SchemaVersion.V1_5).validate_str(bill) is None
    parts_of = {each["purl"].partition("@")[0] for each in json.loads(bill)["components"]}
    assert {"pkg:pypi/pyoxigraph", "pkg:pypi/uvloop", "pkg:npm/preact"} <= parts_of
    assert "pkg:npm/vite" not in parts_of
    with tarfile.open(second / f"sosa-gateway_{__version__}_site.tar.gz") as site:
        text = site.extractfile(f"{__version__}/index.html")
        assert text is not None
        assert '"provider": "mike"' in text.read().decode()


def edited(folder: Path) -> None:
    (folder / "LICENSE").write_text("another one")


def of_another_version(folder: Path) -> None:
    git(folder, "tag", "--delete", f"v{__version__}")
    git(folder, "tag", "v99.0.0")


def without_a_tag(folder: Path) -> None:
    git(folder, "tag", "--delete", f"v{__version__}")


def without_a_chapter(folder: Path) -> None:
    (folder / "CHANGELOG.md").write_text("# Changelog\n")
    git(folder, "commit", "--quiet", "--all", "--amend", "--message", "x")
    git(folder, "tag", "--force", f"v{__version__}")


def without_git(folder: Path) -> None:
    shutil.rmtree(folder / ".git")


def without_a_page(folder: Path) -> None:
    shutil.rmtree(folder / PAGE)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (edited, r"differs from v[\d.]+:\n M LICENSE\n.*git stash"),
        (of_another_version, r"v99\.0\.0 has version .* in pyproject\.toml"),
        (without_a_tag, "no tag of a version is checked out\nwhat to do: git checkout"),
        (without_a_chapter, r"CHANGELOG\.md has no chapter"),
        (without_git, "git fetch --tags"),
        (without_a_page, "make dashboard"),
    ],
)
def test_what_is_no_tag_is_refused(
    small: Path,
    key: Path,
    capsys: pytest.CaptureFixture[str],
    wrong: Callable[[Path], None],
    told: str,
) -> None:
    wrong(small)
    assert refused(small, small.parent / "dist", "--key", str(key), parts=("wheel",))
    assert re.search(told, capsys.readouterr().err, re.DOTALL)


def test_without_a_key_nothing_is_built(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert refused(small, tmp_path / "dist", parts=("wheel",))
    assert "make release KEY=release.key" in capsys.readouterr().err
    assert refused(small, tmp_path / "dist", "--key", str(tmp_path / "none"), parts=("wheel",))
    assert "openssl genpkey" in capsys.readouterr().err


def test_who_cannot_build_an_image_is_told_how_to_leave_it_out(
    small: Path,
    key: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert refused(small, small.parent / "dist", "--key", str(key), parts=("wheel", "image"))
    told = capsys.readouterr().err
    assert "no image can be built" in told
    assert "IMAGE=no" in told


def test_where_an_image_will_be_is_asked_for_first(
    small: Path,
    key: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(parts, "require", lambda *names: None)
    monkeypatch.setattr(parts, "require_emulation", lambda flavour: None)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert refused(small, small.parent / "dist", "--key", str(key), parts=("wheel", "image"))
    assert "URL=https://" in capsys.readouterr().err


def test_pictures_that_are_missing_are_told_before_anything_is_built(
    small: Path, key: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (small / "README.md").write_text("<!-- picture demo.svg: the demo -->\n")
    git(small, "add", "README.md")
    git(small, "commit", "--quiet", "--amend", "--message", "x")
    git(small, "tag", "--force", f"v{__version__}")
    assert refused(small, small.parent / "dist", "--key", str(key), parts=("wheel", "site"))
    told = capsys.readouterr()
    assert "the site lacks pictures: demo.svg\nwhat to do: make pictures" in told.err
    assert "wheel" not in told.out


def refused(sources: Path, output: Path, *words: str, parts: tuple[str, ...]) -> bool:
    """Whether it fails, and leaves nothing behind."""
    told = ("--checkout", str(sources), "--output", str(output), "--parts", *parts)
    failed = main((*told, *words)) == 1
    return failed and not [*output.glob("*"), *output.glob(".*")]


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A tagged checkout with what is looked at before anything is built."""
    folder = tmp_path / "small"
    (folder / PAGE).mkdir(parents=True)
    (folder / PAGE / "index.html").write_text("a page")
    (folder / ".gitignore").write_text(f"{PAGE}/\n")
    (folder / "LICENSE").write_text("a licence")
    (folder / "pyproject.toml").write_text(f'[project]\nversion = "{__version__}"\n')
    (folder / "CHANGELOG.md").write_text(f"# Changelog\n\n## [{__version__}] - 2026-11-27\n")
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "a release")
    git(folder, "tag", f"v{__version__}")
    return folder


def test_an_archive_has_no_clock_no_user_and_no_order_of_a_disk(tmp_path: Path) -> None:
    for name, order in (("a", ("x", "y")), ("b", ("y", "x"))):
        for each in order:
            (tmp_path / name).mkdir(exist_ok=True)
            (tmp_path / name / each).write_text(each)
    (tmp_path / "b" / "x").chmod(0o600)
    os.utime(tmp_path / "b" / "y", (1, 1))
    for name in ("a", "b"):
        pack(tmp_path / name, "top", tmp_path / f"{name}.tar.gz", 1_700_000_000)
    assert (tmp_path / "a.tar.gz").read_bytes() == (tmp_path / "b.tar.gz").read_bytes()
    with tarfile.open(tmp_path / "a.tar.gz") as tar:
        assert tar.getnames() == ["top", "top/x", "top/y"]
        assert {each.mtime for each in tar} == {1_700_000_000}


def test_the_page_s_parts_are_those_that_are_shipped() -> None:
    lock = json.loads((ROOT / "gateway/dashboard/web/package-lock.json").read_text())
    found = {str(each["name"]): each for each in page_components(lock)}
    asked = json.loads((ROOT / "gateway/dashboard/web/package.json").read_text())
    assert asked["dependencies"].keys() <= found.keys()
    assert not asked["devDependencies"].keys() & found.keys()
    view = found["@codemirror/view"]
    assert str(view["purl"]).startswith("pkg:npm/%40codemirror/view@")
    assert re.search("'content': '[0-9a-f]{128}'", str(view["hashes"]))
