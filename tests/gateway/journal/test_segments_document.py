"""docs/segments.md is what readers follow: its pattern, its members and its SQL are true."""

import re
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest

from adapters.values.observation import XSD, Circumstances, Observation, TimeSource
from gateway.journal import Actuation, Outcome, Position, Record
from tests.gateway.shipping.journals import BEGIN, lines_of, sealed_journal
from tests.paths import ROOT

DOCUMENT = (ROOT / "docs" / "segments.md").read_text(encoding="utf-8")


def test_the_pattern_of_the_document_matches_what_is_sealed(tmp_path: Path) -> None:
    (pattern,) = re.findall(r"^    (\^.*\$)$", DOCUMENT, re.MULTILINE)
    with sealed_journal(tmp_path, segments=2) as journal:
        epoch = journal.epoch
    found = [re.fullmatch(pattern, path.name) for path in sorted(tmp_path.glob("*.jsonl.gz"))]
    told = [match.groups()[:4] for match in found if match is not None]
    assert told == [
        ("kitchen", str(epoch), "000000000001", "10"),
        ("kitchen", str(epoch), "000000000011", "10"),
    ]


def test_the_document_has_every_member_of_a_line() -> None:
    network = Circumstances(TimeSource.NETWORK, historical=True, seed=True)
    everything = Observation("s", "p", "f", "v", XSD + "string", "u", BEGIN, "7", network)
    line = Record(Position(1, 2), 1, everything, BEGIN, "k", clock_suspect=True).encode()
    command = Actuation("s", "o", "v", XSD + "string", BEGIN, "r", "x")
    line += command.encode(1) + Outcome(command, "Failed", BEGIN, "b", "g").encode(2)
    written = set(re.findall(r'[{,]"([a-z])":', line.decode()))
    documented = set(re.findall(r"^\| `([a-z])` \|", DOCUMENT, re.MULTILINE))
    assert written == documented == set("qamspfvduticnzlekorxyjbg")


def test_duckdb_reads_segments_by_the_sql_of_the_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with sealed_journal(tmp_path, segments=2):
        pass
    monkeypatch.chdir(tmp_path)
    (sql,) = re.findall(r"```sql\n(.*?);\n```", DOCUMENT, re.DOTALL)
    with duckdb.connect() as connection:
        rows = sorted(connection.execute(sql).fetchall(), key=lambda row: int(row[1]))
    lines = [fields for path in sorted(tmp_path.glob("*.gz")) for fields in lines_of(path)]
    assert [(s, v) for s, v, _ in rows] == [(line["s"], line["v"]) for line in lines]
    assert [time.replace(tzinfo=UTC) for _, _, time in rows] == [
        datetime.fromtimestamp(int(str(line["i"])) / 1e6, UTC) for line in lines
    ]
