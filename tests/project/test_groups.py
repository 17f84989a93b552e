"""Tests of a file, and of an `xdist_group`, run in one process: pytest-xdist has to know them."""

import os

import pytest


def test_a_worker_process_is_given_the_whole_file(request: pytest.FixtureRequest) -> None:
    is_worker = "PYTEST_XDIST_WORKER" in os.environ
    group = "@tests/project/test_groups.py" if is_worker else ""
    assert request.node.nodeid.endswith(f"::{request.node.name}{group}")
