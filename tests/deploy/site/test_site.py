"""deploy.site: the site as `make docs` builds it, read in a browser; what its reference has."""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from deploy.site.pictures import named, placed
from deploy.site.reference import reference_pages
from deploy.site.versions import list_versions, main
from gateway.cli.command import documented
from gateway.errors import GatewayError
from tests.kit.chromium import browsers
from tests.kit.gateways import LOOPBACK
from tests.paths import ROOT

FOREIGN = re.compile(r"""<(?:script|img|iframe|source|link)\b[^>]*\b(?:src|href)=["']?https?://""")
BUILD_S = 240


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """That of a version, alone in its folder: the list of versions has but this one."""
    folder = tmp_path_factory.mktemp("sites") / "1.9.0"
    command = (sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder))
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "SITE_VERSION": folder.name},
        check=False,
        timeout=BUILD_S,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    list_versions(folder.parent)
    return folder


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return dict(reference_pages())


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


@pytest.fixture
def address(site: Path) -> Iterator[str]:
    with served(site.parent) as root:
        yield f"{root}/{site.name}"


@contextmanager
def served(folder: Path) -> Iterator[str]:
    server = ThreadingHTTPServer((LOOPBACK, 0), partial(_Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://{LOOPBACK}:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_every_page_of_the_checkout_is_there(site: Path) -> None:
    of_docs = {str(path.relative_to(ROOT / "docs")) for path in (ROOT / "docs").rglob("*.md")}
    outside = {"README.md", "ARCHITECTURE.md", "THREATS.md", "deploy/raspberrypi/README.md"}
    for page in of_docs | outside:
        built = site / page.replace("README.md", "index.md").replace(".md", ".html")
        assert built.is_file(), page
    start = (site / "index.html").read_text(encoding="utf-8")
    assert 'href="house.html"' in start
    assert "docs/house" not in re.sub(r"<code>.*?</code>|>docs/house.md<", "", start)


def test_what_pages_lead_to_is_carried_along(site: Path) -> None:
    for name in ("gateway.example.toml", "ontologies/gateway.ttl", "jsap/profiles/chat.jsap"):
        assert (site / name).read_bytes() == (ROOT / name).read_bytes()


def test_no_page_asks_another_host_for_anything(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 70
    assert not [page for page in pages if FOREIGN.search(page.read_text(encoding="utf-8"))]


@pytest.mark.asyncio
async def test_a_word_is_found_and_nothing_foreign_is_asked_for(address: str) -> None:
    async with browsers() as browser:
        page = await browser.new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        await page.goto(f"{address}/families/modbus.html")
        await page.fill("input.md-search__input", "heat pump")
        found = page.locator(".md-search-result__item a").first
        await found.wait_for()
        assert address in (await found.get_attribute("href") or "")
        await page.goto(f"{address}/reference/settings.html")
    assert len(asked) > 5
    own = (address, f"{address.rpartition('/')[0]}/versions.json", "data:", "blob:")
    assert not [url for url in asked if not url.startswith(own)]


@pytest.mark.asyncio
async def test_a_reader_goes_to_the_newest_version_and_can_choose_another(
    site: Path, tmp_path: Path
) -> None:
    for name in ("1.9.0", "1.10.0"):
        shutil.copytree(site, tmp_path / name)
    (tmp_path / "notes").mkdir()
    assert main([str(tmp_path)]) == 0
    with served(tmp_path) as root:
        async with browsers() as browser:
            page = await browser.new_page()
            await page.goto(f"{root}/")
            await page.wait_for_url(f"{root}/1.10.0/")
            links = page.locator(".md-version__link")
            await links.first.wait_for(state="attached")
            assert [await each.text_content() for each in await links.all()] == ["1.10.0", "1.9.0"]
            await page.goto(f"{root}/1.10.0/house.html")
            await page.focus(".md-version__current")
            await links.last.click()
            await page.wait_for_url(f"{root}/1.9.0/**")


def test_versions_are_those_that_have_a_site(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([]) == 2
    assert main([str(tmp_path)]) == 1
    assert "no site of a version" in capsys.readouterr().out
    assert json.loads((tmp_path / "versions.json").read_text()) == []
    (tmp_path / "0.1.0").mkdir()
    assert list_versions(tmp_path) == []
    (tmp_path / "0.1.0" / "index.html").write_text("a site")
    assert list_versions(tmp_path) == ["0.1.0"]


def test_every_picture_is_left_by_a_test_and_shown_in_both_looks() -> None:
    others = (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("deploy/**/*.md"))
    pages = [page.read_text("utf-8") for page in (ROOT / "README.md", *others)]
    tests = "".join(path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    left = set(re.findall(r"\bkeep\(\s*\"([\w.]+)\"", tests))
    left |= {
        f"{name}-{size}-{theme}.png"
        for name in re.findall(r"await pictures\(page, \"(\w+)\"\)", tests)
        for size in ("desktop", "phone")
        for theme in ("light", "dark")
    }
    assert len(named(pages)) == 4
    assert named(pages) <= left
    shown = placed("<!-- picture now-light.png: Now -->", ".", lambda name: True)
    light, dark = "pictures/now-light.png#only-light", "pictures/now-dark.png#only-dark"
    assert shown == f"![Now]({light})![Now]({dark})"
    assert placed(pages[0], ".", lambda name: "dark" in name) == pages[0]


def test_the_reference_has_every_setting(pages: dict[str, str]) -> None:
    text = (ROOT / "gateway.example.toml").read_text(encoding="utf-8")
    for section, settings in tomllib.loads(text).items():
        chapter = pages["settings"].partition(f"\n## {section}\n")[2].partition("\n## ")[0]
        assert {*settings} - {"users", "options"} <= set(re.findall(r"^\| `(\w+)`", chapter, re.M))


def test_the_reference_has_every_command_and_error(pages: dict[str, str]) -> None:
    headings = set(re.findall(r"^#+ (.*)$", pages["commands"], re.M))
    assert {" ".join(each.words) for each in documented()} <= headings
    assert {error.code for error in _tree(GatewayError)} == set(
        re.findall(r"^\| \d+ \| `(\w+)`", pages["errors"], re.M)
    )


def _tree(error: type[GatewayError]) -> Iterator[type[GatewayError]]:
    yield error
    for below in error.__subclasses__():
        yield from _tree(below)


def test_the_reference_has_the_metrics_of_the_page_by_subject(pages: dict[str, str]) -> None:
    told = set(re.findall(r"^\| `sosa_gateway_(\w+?)(?:_total)?`", pages["metrics"], re.M))
    by_subject = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    assert len(told) > 140
    assert told <= set(re.findall(r"`(\w+)(?:\{\w+\})?`", by_subject))
    rows = re.findall(r"^\| (`.*?) \|", by_subject, re.M)
    named = {name for row in rows for name in re.findall(r"`(\w+)(?:\{\w+\})?`", row)}
    assert named <= told


def test_the_reference_has_every_term(pages: dict[str, str]) -> None:
    source = (ROOT / "ontologies" / "gateway.ttl").read_text(encoding="utf-8")
    terms = set(re.findall(r"^(gw:\w+) a ", source, re.M))
    assert len(terms) > 150
    assert terms <= set(re.findall(r"^\| `(gw:\w+)`", pages["vocabulary"], re.M))
