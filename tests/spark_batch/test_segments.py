"""Names, checks and plans: what ingest decides without Spark."""

import gzip
import hashlib
import io
import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_batch.intervals import Runs, length
from spark_batch.jobs.survey import survey
from spark_batch.landing import landing_zone
from spark_batch.plan import Checked, Ledger, Plan, Plans, make_plan
from spark_batch.quarantine import Quarantine
from spark_batch.segment import Fault, SegmentName, check, examine
from spark_batch.tools.fleet import BASE
from tests.spark_batch.truths import reading, write_segment

NAME = "a-b.c-01795276-000000000012-34-0123456789ab.jsonl.gz"


def test_name_with_hyphens_is_read_in_one_way() -> None:
    segment = SegmentName.parse(NAME)
    assert (segment.gateway, segment.epoch, segment.first, segment.last) == (
        "a-b.c",
        1795276,
        12,
        45,
    )


@pytest.mark.parametrize(
    "name",
    [
        "readme.txt",
        f"{NAME}.part",
        f"../{NAME}",
        f"{NAME}\n",
        NAME.replace("-34-", "-0-"),
        NAME.replace("-34-", "-٣٤-"),
        NAME.replace("01795276", "1795276"),
        NAME.replace("0123456789ab", "0123456789AB"),
        "-" + NAME,
    ],
)
def test_name_of_another_form_is_foreign(name: str) -> None:
    with pytest.raises(Fault, match="foreign_name"):
        SegmentName.parse(name)


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 8)), max_size=12),
    st.integers(0, 45),
    st.integers(0, 10),
)
def test_runs_are_a_set_of_integers(added: list[tuple[int, int]], first: int, more: int) -> None:
    runs, oracle = Runs(), set[int]()
    for start, size in added:
        runs.add(start, start + size)
        oracle |= set(range(start, start + size + 1))
    asked = set(range(first, first + more + 1))
    missing = runs.missing(first, first + more)
    assert {n for low, high in missing for n in range(low, high + 1)} == asked - oracle
    assert length(runs.runs()) == len(oracle)
    assert all(first <= last for first, last in runs.holes())


@given(
    st.lists(st.tuples(st.integers(1, 30), st.integers(1, 10)), min_size=1, max_size=8),
    st.integers(0, 3),
    st.randoms(),
)
def test_any_order_and_any_split_into_batches_take_each_line_once(
    runs: list[tuple[int, int]], batches: int, chance: random.Random
) -> None:
    names = [f"g-00000001-{first:012d}-{count}-{0:012x}.jsonl.gz" for first, count in runs]
    checked = [Checked(SegmentName.parse(name), name, 0, "urn:") for name in names]
    chance.shuffle(checked)
    ledger, taken = Ledger(), list[int]()
    size = max(1, len(checked) // (batches + 1))
    for start in range(0, len(checked), size):
        plan = make_plan(start, ledger, checked[start : start + size])
        ledger.take(plan)
        taken += [n for each in plan.segments for a, b in each.keep for n in range(a, b + 1)]
    assert sorted(taken) == sorted({n for a, count in runs for n in range(a, a + count)})


def test_same_run_with_other_bytes_is_a_conflict_and_the_first_stays() -> None:
    one = SegmentName.parse("g-00000001-000000000001-9-00000000000a.jsonl.gz")
    other = SegmentName.parse("g-00000001-000000000001-9-00000000000b.jsonl.gz")
    plan = make_plan(1, Ledger(), [Checked(each, each.name, 0, "b") for each in (other, one)])
    assert [each.name for each in plan.segments] == [one.name]
    assert plan.conflicts == (other.name,)


def test_folded_plans_know_what_they_took(tmp_path: Path) -> None:
    plans = Plans(tmp_path)
    ledger = Ledger()
    for number in range(1, 8):
        name = f"g-00000001-{number * 10:012d}-10-{number:012x}.jsonl.gz"
        plan = make_plan(number, ledger, [Checked(SegmentName.parse(name), name, 0, "b")])
        plans.write(plan)
        ledger.take(plan)
    before = plans.ledger(7)
    assert plans.fold(7, keep=2) == 5
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "000000006.json",
        "000000007.json",
        "folded.json",
    ]
    assert plans.ledger(7).taken["g", 1].runs() == before.taken["g", 1].runs() == [(10, 79)]
    assert plans.fold(7, keep=2) == 0


def test_plan_survives_its_file(tmp_path: Path) -> None:
    segment = SegmentName.parse(NAME)
    plan = make_plan(3, Ledger(), [Checked(segment, "/x", 1, "urn:b")], [], [("gap", "why")])
    plan = Plan(3, plan.segments, ("r",), ("c",), plan.gaps)
    Plans(tmp_path).write(plan)
    assert Plans(tmp_path).read(3) == plan


def test_missing_sequences_are_holes_that_no_gap_tells_of() -> None:
    ledger = Ledger()
    for first, count in ((1, 10), (21, 5), (41, 5)):
        name = f"g-00000001-{first:012d}-{count}-{0:012x}.jsonl.gz"
        ledger.take(make_plan(1, ledger, [Checked(SegmentName.parse(name), name, 0, "b")]))
    ledger.gaps["g-00000001-000000000011-10-000000000000.gap.json"] = "dropped"
    assert list(ledger.missing()) == [("g", 1, (26, 40))]


LINES = [reading(number) for number in range(5, 9)]


def _examined(lines: list[dict[str, object]], tmp_path: Path, cut: int = 0) -> Fault | None:
    path = write_segment(tmp_path, lines, count=4)
    content = gzip.decompress(path.read_bytes())
    text = gzip.compress(content[: len(content) - cut])
    try:
        examine(SegmentName.parse(path.name), io.BytesIO(text))
    except Fault as fault:
        return fault
    return None


def test_good_lines_have_no_fault(tmp_path: Path) -> None:
    assert _examined(LINES, tmp_path) is None


def test_line_that_is_there_twice_is_no_fault(tmp_path: Path) -> None:
    assert _examined([*LINES[:2], LINES[1], *LINES[2:]], tmp_path) is None


@pytest.mark.parametrize(
    ("lines", "reason", "line"),
    [
        ([*LINES[:1], *LINES[2:]], "sequence", 3),
        (LINES[:3], "count", None),
        ([*LINES, reading(9)], "sequence", 6),
        ([*LINES[:2], LINES[2] | {"v": None}, LINES[3]], "line", 4),
        ([*LINES[:2], LINES[2] | {"i": "now"}, LINES[3]], "line", 4),
        ([*LINES[:2], LINES[2] | {"q": True}, LINES[3]], "sequence", 4),
    ],
)
def test_examination_names_the_line(
    lines: list[dict[str, object]], reason: str, line: int | None, tmp_path: Path
) -> None:
    fault = _examined(lines, tmp_path)
    assert fault is not None
    assert (fault.reason, fault.line) == (reason, line)


def test_torn_last_line_is_told_with_its_offset(tmp_path: Path) -> None:
    fault = _examined(LINES, tmp_path, cut=10)
    assert fault is not None
    assert (fault.reason, fault.line) == ("torn", 5)
    assert fault.offset > 400


def test_cut_gzip_is_told_by_examination(tmp_path: Path) -> None:
    path = write_segment(tmp_path, LINES)
    with pytest.raises(Fault, match="gzip"):
        examine(SegmentName.parse(path.name), io.BytesIO(path.read_bytes()[:-20]))


@pytest.mark.parametrize(
    ("header", "reason"),
    [({"schema": "2.0"}, "schema"), ({"schema": "new"}, "header")],
)
def test_schema_that_is_not_ours_is_refused(
    header: dict[str, str], reason: str, tmp_path: Path
) -> None:
    path = write_segment(tmp_path, LINES, schema=header["schema"])
    with pytest.raises(Fault, match=reason), path.open("rb") as file:
        check(SegmentName.parse(path.name), file)


def test_survey_reads_no_segment_that_is_taken(tmp_path: Path) -> None:
    landing, quarantine = tmp_path / "landing", Quarantine(tmp_path / "quarantine")
    landing.mkdir()
    path = write_segment(landing, LINES)
    ledger = Ledger()
    first = survey(landing_zone(str(landing)), ledger, quarantine)
    ledger.take(make_plan(1, ledger, first.good))
    path.write_bytes(b"whatever")
    again = survey(landing_zone(landing.as_uri()), ledger, quarantine)
    assert (again.good, again.faults, again.repeated) == ([], [], [path.name])


def _gap(landing: Path, *, count: int = 4) -> Path:
    fields = {"schema": "1.0", "gateway": "g", "base": BASE, "epoch": 7, "first": 5}
    content = json.dumps(fields | {"count": 4, "reason": "dropped", "at": 1}).encode() + b"\n"
    sha12 = hashlib.sha256(content).hexdigest()[:12]
    path = landing / f"g-00000007-000000000005-{count}-{sha12}.gap.json"
    path.write_bytes(content)
    return path


def test_gap_is_known_after_the_batch_that_saw_it(tmp_path: Path) -> None:
    landing, quarantine = tmp_path / "landing", Quarantine(tmp_path / "quarantine")
    landing.mkdir()
    path = _gap(landing)
    for first in (1, 9):
        write_segment(landing, [reading(first + n) for n in range(4)], gateway="g")
    ledger = Ledger()
    found = survey(landing_zone(str(landing)), ledger, quarantine)
    assert found.gaps == [(path.name, "dropped")]
    ledger.take(make_plan(1, ledger, found.good, gaps=found.gaps))
    assert list(ledger.missing()) == []
    assert [(gap.first, why) for gap, why in ledger.told_gaps()] == [(5, "dropped")]
    assert survey(landing_zone(str(landing)), ledger, quarantine).gaps == []


def test_gap_that_contradicts_its_name_is_a_fault(tmp_path: Path) -> None:
    _gap(tmp_path, count=9)
    found = survey(landing_zone(str(tmp_path)), Ledger(), Quarantine(tmp_path / "quarantine"))
    assert [fault.reason for _, fault in found.faults] == ["gap"]
