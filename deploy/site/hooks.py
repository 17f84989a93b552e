"""What mkdocs asks us while it builds: pages from outside docs, links, reference made of the code.

Source of the events: mkdocs, "Developer Guide, Plugins, Events" of version 1.6.
"""

import os
from pathlib import Path
from posixpath import dirname

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from deploy.site.addresses import address, readdressed, targets
from deploy.site.lists import indented
from deploy.site.pictures import FOLDER, SCREENSHOTS, named, placed
from deploy.site.reference import reference_pages
from gateway import __version__

ROOT = Path(__file__).parents[2]
OUTSIDE = (
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CODE_OF_CONDUCT.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "THREATS.md",
    "deploy/raspberrypi/README.md",
    "ontologies/README.md",
)
"""Pages that stand elsewhere than below docs."""


VERSIONED = "SITE_VERSION"
"""A variable of the environment: the site lies beside those of other versions, in a folder so
called, and each page lets one choose (`deploy.site.versions`)."""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Say on each page of which version it is, and have it offer others where there may be some."""
    config.copyright = f"sosa-gateway {os.environ.get(VERSIONED) or __version__}, Apache-2.0"
    if os.environ.get(VERSIONED):
        config.extra["version"] = {"provider": "mike"}  # their name for versions.json
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add pages from outside docs, what any page links to, pictures, and the reference."""
    for path in OUTSIDE:
        files.append(_carried(config, path))
    pages = [*OUTSIDE, *(f"docs/{each.src_uri}" for each in files if _is_ours(each))]
    texts = {page: (ROOT / page).read_text("utf-8") for page in pages}
    linked = set().union(*(targets(page, text) for page, text in texts.items()))
    for path in sorted(linked):
        if (ROOT / path).is_file() and files.get_file_from_path(address(path)) is None:
            files.append(_carried(config, path))
    for name in sorted(named(texts.values())):
        if _is_made(name):
            picture = str(ROOT / SCREENSHOTS / name)
            files.append(File.generated(config, f"{FOLDER}/{name}", abs_src_path=picture))
    for name, text in reference_pages().items():
        files.append(File.generated(config, f"reference/{name}.md", content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Have links lead to where their files stand, lists keep what is theirs, pictures be seen."""
    del config, files
    path = _path(page.file)
    if path is None:
        return markdown
    text = indented(readdressed(path, markdown, _is_folder, _title))
    return placed(text, dirname(page.file.src_uri) or ".", _is_made)


def _carried(config: MkDocsConfig, path: str) -> File:
    return File.generated(config, address(path), abs_src_path=str(ROOT / path))


def _is_ours(file: File) -> bool:
    return file.generated_by is None and file.is_documentation_page()


def _path(file: File) -> str | None:
    """Where a page stands in the checkout; None for one that is made of the code."""
    if file.src_uri in OUTSIDE:
        return file.src_uri
    return None if file.src_uri.startswith("reference/") else f"docs/{file.src_uri}"


def _title(path: str) -> str:
    """What a page calls itself, in its first line."""
    with (ROOT / path).open(encoding="utf-8") as page:
        return page.readline().removeprefix("# ").strip()


def _is_made(name: str) -> bool:
    """Without those that no test has left yet the site is built all the same."""
    return (ROOT / SCREENSHOTS / name).is_file()


def _is_folder(path: str) -> bool:
    return (ROOT / path).is_dir()
