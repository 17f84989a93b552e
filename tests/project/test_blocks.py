"""Every block of the documents is run by a test, but for few that none can run."""

import re
from collections import Counter

from tests.kit.blocks import blocks, documents
from tests.paths import ROOT
from tests.project.test_pages_run import NOT_HERE, PAGES

ELSEWHERE = {
    "README.md": (8, "tests/project/test_readme_subscriptions.py"),
    "docs/house.md": (7, "tests/project/test_house_page.py"),
    "docs/engine.md": (1, "tests/project/test_readme.py"),
    "docs/engine-api.md": (1, "tests/project/test_readme.py"),
    "docs/client.md": (4, "tests/gateway/client/test_documents.py"),
    "docs/security.md": (5, "tests/gateway/security/test_docs.py"),
    "docs/sensorthings.md": (1, "tests/gateway/gates/sensorthings/test_clients.py"),
    "docs/archive.md": (7, "tests/spark_batch/test_demo_archive.py"),
    "docs/families/bridges.md": (1, "tests/gateway/app/test_node_red.py"),
    "docs/shipping.md": (1, "tests/gateway/gates/collector/test_documents.py"),
    "docs/upgrades.md": (1, "tests/deploy/test_upgraded.py"),
    "deploy/raspberrypi/README.md": (3, "tests/deploy/test_page.py"),
    "docs/segments.md": (1, "tests/spark_batch/test_demo_archive.py"),
}
"""How many blocks of a page the tests of a file run, those of the README with the agent of
tests/gateway/client/test_documents.py, and the archive of tests/spark_batch/test_demo_archive.py;
the first commands by test_pages_run."""

MOST_MARKED = 0.05
FENCED = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
HIDDEN = re.compile(
    r"^\n {4}((?:sosa-gateway|pip|python3?|make|sudo|curl|git|npm) .*)", re.MULTILINE
)


def test_every_block_is_run_or_marked() -> None:
    run = Counter({page.path: len(page.told) - page.told.count(NOT_HERE) for page in PAGES})
    run.update({page: count for page, (count, _) in ELSEWHERE.items()})
    found = {page: blocks(page) for page in documents()}
    for page, those in found.items():
        left = [block for block in those if not block.why]
        assert len(left) == run[page], page
    assert run.keys() <= found.keys()


def test_few_blocks_never_can_be_run() -> None:
    every = [block for page in documents() for block in blocks(page)]
    marked = sum(bool(block.why) for block in every)
    assert marked <= MOST_MARKED * len(every), f"{marked} of {len(every)} blocks are marked no-run"


def test_no_command_hides_from_that_in_a_block_that_is_only_indented() -> None:
    found = [
        (page, line)
        for page in documents()
        for line in HIDDEN.findall(FENCED.sub("", (ROOT / page).read_text(encoding="utf-8")))
    ]
    assert not found


def test_those_elsewhere_read_the_page() -> None:
    for page, (_, file) in ELSEWHERE.items():
        text = (ROOT / file).read_text(encoding="utf-8")
        assert page.rpartition("/")[2] in text, file
