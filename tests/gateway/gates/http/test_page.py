"""The files of the web page: as they lie, compressed where that is understood, under a policy."""

import gzip
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from gateway.gates.http.operations import application
from gateway.gates.http.page import PageGate

SCRIPT = b"let page = 1;\n" * 100


def build(folder: Path, script: bytes = SCRIPT, name: str = "index-1.js") -> None:
    """What the build leaves in a folder, as far as it matters here."""
    assets = folder / "assets"
    assets.mkdir(parents=True, exist_ok=True)
    (folder / "index.html").write_text(f"<script src=/assets/{name}></script>", encoding="utf-8")
    (folder / "mark.svg").write_text("<svg/>", encoding="utf-8")
    (assets / name).write_bytes(script)
    (assets / f"{name}.gz").write_bytes(gzip.compress(script))


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(application(PageGate(folder).routes()))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        yield client


async def test_files_are_sent_compressed_and_kept_for_good(tmp_path: Path) -> None:
    build(tmp_path)
    async with served(tmp_path) as client:
        page = await client.get("/")
        assert (page.status_code, page.headers["cache-control"]) == (200, "no-cache")
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        script = await client.get("/assets/index-1.js")
        assert (script.content, script.headers["content-encoding"]) == (SCRIPT, "gzip")
        assert "immutable" in script.headers["cache-control"]
        plain = await client.get("/assets/index-1.js", headers={"Accept-Encoding": "identity"})
        assert (plain.content, plain.headers.get("content-encoding")) == (SCRIPT, None)
        assert plain.headers["etag"] != script.headers["etag"]
        again = {"If-None-Match": script.headers["etag"]}
        assert (await client.get("/assets/index-1.js", headers=again)).status_code == 304
        assert (await client.head("/")).content == b""
        mark = await client.get("/mark.svg")
        assert mark.headers["content-type"] == "image/svg+xml"


async def test_everything_is_under_a_policy_without_inline_code(tmp_path: Path) -> None:
    build(tmp_path)
    async with served(tmp_path) as client:
        for path in ("/", "/assets/index-1.js", "/mark.svg"):
            answer = await client.get(path)
            policy = answer.headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert "frame-ancestors 'none'" in policy
            assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("path", ["/assets/none.js", "/assets/..%2findex.html", "/none.svg"])
async def test_nothing_else_is_handed_out(tmp_path: Path, path: str) -> None:
    build(tmp_path)
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    async with served(tmp_path) as client:
        answer = await client.get(path)
        assert (answer.status_code, answer.json()["error"]) == (404, "not_found")


async def test_a_page_that_is_built_anew_is_found(tmp_path: Path) -> None:
    async with served(tmp_path) as client:
        unbuilt = await client.get("/")
        assert unbuilt.status_code == 503
        assert "make dashboard" in unbuilt.text
        build(tmp_path)
        assert (await client.get("/")).status_code == 200
        build(tmp_path, b"new", "index-2.js")
        assert "index-2.js" in (await client.get("/")).text
        assert (await client.get("/assets/index-2.js")).content == b"new"


async def test_a_link_from_elsewhere_opens_the_page_and_nothing_else(tmp_path: Path) -> None:
    build(tmp_path)
    clicked = {"Sec-Fetch-Site": "cross-site", "Referer": "https://mail.example/"}
    async with served(tmp_path) as client:
        assert (await client.get("/", headers=clicked)).status_code == 200
        assert (await client.get("/mark.svg", headers=clicked)).status_code == 403
        called = {"Origin": "https://mail.example"}
        assert (await client.get("/", headers=called)).status_code == 403
