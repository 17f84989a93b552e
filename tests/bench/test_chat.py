"""`bench chat`: its answers are right, and its figures stand beside the paper's."""

import json

import pytest

from bench.command import run


def test_the_experiments_of_the_chat(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["chat", "--messages", "10", "--json"]) == 0
    overhead, oneself = map(json.loads, capsys.readouterr().out.splitlines())
    assert overhead["matches"]
    assert oneself["matches"]
    assert overhead["figures"]["requests"] == 200
    assert [row["CPU ms a request"] for row in overhead["table"]] == ["store", "engine", "gateway"]
    assert 0 < overhead["figures"]["store"] < overhead["figures"]["gateway"]
    assert 0 < oneself["figures"]["notification p50"] <= oneself["figures"]["notification max"]
    assert "paper" in " ".join(oneself["notes"])
