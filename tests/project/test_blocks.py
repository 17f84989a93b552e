"""Which blocks of the documents are run by a test, which are not yet, and which never can be."""

from collections import Counter

from tests.kit.blocks import blocks, documents
from tests.paths import ROOT
from tests.project.test_pages_run import NOT_HERE, PAGES

ELSEWHERE = {
    "README.md": (7, "tests/project/test_readme_subscriptions.py"),
    "docs/house.md": (7, "tests/project/test_house_page.py"),
    "docs/engine.md": (1, "tests/project/test_readme.py"),
    "docs/engine-api.md": (1, "tests/project/test_readme.py"),
    "docs/client.md": (4, "tests/gateway/client/test_documents.py"),
    "docs/security.md": (5, "tests/gateway/security/test_docs.py"),
    "docs/sensorthings.md": (1, "tests/gateway/gates/sensorthings/test_clients.py"),
    "docs/archive.md": (1, "tests/spark_batch/test_demo_archive.py"),
    "docs/segments.md": (1, "tests/spark_batch/test_demo_archive.py"),
}
"""How many blocks of a page the tests of a file run, those of the README with the agent of
tests/gateway/client/test_documents.py; the first commands by test_pages_run."""

NOT_YET = {
    "deploy/raspberrypi/README.md": 3,  # the builders are tested, not these lines
    "docs/archive.md": 1,  # a second Spark; test_demo_archive does the same with its own
    "docs/families/bridges.md": 1,  # 300 MB; make node-red installs the same, and the flow is run
    "docs/sensorthings.md": 1,  # nothing tells when its MQTT client is heard
    "docs/shipping.md": 1,  # at a port that somebody may have
    "docs/upgrades.md": 1,  # a restore of a service, by root
}
"""Blocks that could be run, and are not; each that goes from here makes the share below larger."""

LEAST_RUN = 0.85
MOST_MARKED = 0.05


def test_every_block_is_run_or_known_not_to_be() -> None:
    run = Counter({page.path: len(page.told) - page.told.count(NOT_HERE) for page in PAGES})
    run.update({page: count for page, (count, _) in ELSEWHERE.items()})
    found = {page: blocks(page) for page in documents()}
    for page, those in found.items():
        left = [block for block in those if not block.why]
        assert len(left) == run[page] + NOT_YET.get(page, 0), page
    assert run.keys() | NOT_YET.keys() <= found.keys()


def test_most_blocks_are_run_and_few_never_can_be() -> None:
    every = [block for page in documents() for block in blocks(page)]
    marked = sum(bool(block.why) for block in every)
    share = (len(every) - marked - sum(NOT_YET.values())) / len(every)
    told = f"{len(every)} blocks: {share:.0%} run, {marked} marked no-run"
    assert share >= LEAST_RUN, told
    assert marked <= MOST_MARKED * len(every), told


def test_those_elsewhere_read_the_page() -> None:
    for page, (_, file) in ELSEWHERE.items():
        text = (ROOT / file).read_text(encoding="utf-8")
        assert page.rpartition("/")[2] in text, file
