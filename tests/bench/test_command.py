"""The benchmarks' command line, reports and processes."""

import io
import json
import subprocess
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from threading import Event
from time import monotonic

import pytest
from pyoxigraph import Store

from bench.city import shapes_run
from bench.city.shapes import Data
from bench.command import run
from bench.http import fanout
from bench.processes import Child, ChildFailedError
from bench.readings import expiry, latency, notification_latency
from bench.readings.inprocess import one_text
from bench.readings.mosquitto import find_mosquitto
from bench.readings.session import BROKERS
from bench.readings.workload import SENSORS, Workload, subscriptions
from bench.report import (
    Experiment,
    Figure,
    Skipped,
    TableRow,
    digest,
    percentile,
    write_json,
    write_text,
)
from gateway.engine.notification import Told
from gateway.engine.subscriptions import Subscriptions

DIGEST = digest(["row"])


def python(program: str) -> Child:
    return Child("child", [sys.executable, "-c", program])


@pytest.fixture
def sleeper() -> Iterator[Child]:
    with python("print('up', flush=True); import threading; threading.Event().wait()") as child:
        child.wait_for("up")
        yield child


def measured(reference: str = DIGEST) -> Experiment:
    return Experiment("it", (Figure("rate", 1234.5, "1/s", "why"),), DIGEST, reference)


def test_digest_counts_equal_rows_and_not_their_order() -> None:
    assert digest(["a", "b"]) == digest(["b", "a"])
    assert digest(["a", "b"]) != digest(["a", "b", "b"])


def test_json_report_has_figures_versions_and_digest() -> None:
    out = io.StringIO()
    write_json(out, measured())
    members = json.loads(out.getvalue())
    assert members["experiment"] == "it"
    assert members["figures"] == {"rate": 1234.5}
    assert members["matches"] is True
    assert members["digest"] == DIGEST
    assert {"python", "pyoxigraph", "platform", "cores"} <= set(members["versions"])


def test_text_report_aligns_a_table() -> None:
    out = io.StringIO()
    rows: list[TableRow] = [{"shape": "join", "ms": 0.5}, {"shape": "path", "ms": 12}]
    write_text(out, Experiment("it", (), DIGEST, DIGEST, table=rows))
    assert out.getvalue().splitlines()[2:5] == ["  shape   ms", "  join   0.5", "  path    12"]


def test_text_report_shows_a_mismatch() -> None:
    out = io.StringIO()
    write_text(out, measured(reference="other"))
    assert "MISMATCH" in out.getvalue()


def test_skipped_experiment_says_why_in_both_forms() -> None:
    text, objects = io.StringIO(), io.StringIO()
    write_text(text, Skipped("it", "not installed"))
    write_json(objects, Skipped("it", "not installed"))
    assert "skipped, not installed" in text.getvalue()
    assert json.loads(objects.getvalue())["skipped"] == "not installed"


def test_ingest_embedded_with_200_readings_is_right_end_to_end(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["ingest", "--readings", "200", "--broker", "embedded", "--json"]) == 0
    yardsticks, embedded, windowed = map(json.loads, capsys.readouterr().out.splitlines())
    assert yardsticks["matches"]
    assert embedded["matches"]
    assert embedded["experiment"] == "ingest embedded"
    assert embedded["figures"]["readings"] == embedded["figures"]["notifications"] == 200
    assert embedded["figures"]["rate"] > 0
    assert windowed["experiment"] == "ingest embedded windowed"
    assert windowed["matches"]
    assert windowed["figures"]["notifications"] == 400
    assert windowed["figures"]["rate / without windows"] > 0


def test_expiry_is_of_every_reading() -> None:
    measured = expiry.measure(100)
    assert measured.matches
    figures = {each.name: each.value for each in measured.figures}
    assert figures["told that they are old"] == 100
    assert figures["p50"] <= figures["p99"] <= figures["max"]


@pytest.mark.parametrize("broker", BROKERS)
def test_latency_is_of_every_reading(broker: str) -> None:
    if broker == "external" and find_mosquitto() is None:
        pytest.skip("mosquitto is not installed")
    (measured,) = latency.measure(100, [broker])
    assert isinstance(measured, Experiment)
    assert measured.matches
    figures = {each.name: each.value for each in measured.figures}
    assert figures["timed"] == 100
    assert 0 < figures["p50"] <= figures["p99"] <= figures["max"]


@pytest.mark.parametrize("readings", ["0", "-1", "many"])
def test_count_of_readings_that_is_none_is_wrong_usage(readings: str) -> None:
    with pytest.raises(SystemExit) as ended:
        run(["ingest", "--readings", readings])
    assert ended.value.code == 2


def test_percentiles_of_four_values() -> None:
    values = [1.0, 2.0, 3.0, 4.0]
    assert [percentile(values, part) for part in (0.25, 0.5, 0.99, 1.0)] == [1.0, 2.0, 4.0, 4.0]


def test_publishers_share_every_reading_and_no_sensor() -> None:
    workload = Workload(1000)
    shares = [list(workload.share(number, 4)) for number in range(4)]
    assert sorted(chain(*shares)) == list(range(1000))
    sensors = [{index % SENSORS for index in share} for share in shares]
    assert sum(map(len, sensors)) == len(set().union(*sensors)) == SENSORS


def test_latest_values_of_fewer_readings_than_sensors() -> None:
    assert [value for _, value in Workload(3).latest()] == ["0.5", "1.5", "2.5"]


def test_latest_values_are_of_every_sensor() -> None:
    assert set(dict(Workload(250).latest())) == set(subscriptions())


def test_requests_as_one_text_have_their_prefixes_first() -> None:
    text = one_text(["PREFIX a: <urn:a>\nA", "PREFIX a: <urn:a>\nPREFIX b: <urn:b>\nB"])
    assert text.splitlines() == ["PREFIX a: <urn:a>", "PREFIX b: <urn:b>", "A", ";", "B", ";"]


def test_child_ends_with_its_context(sleeper: Child) -> None:
    assert not sleeper.has_ended
    sleeper.__exit__(None, None, None)
    assert sleeper.has_ended


def test_child_that_ends_early_is_told_with_its_last_words() -> None:
    with (
        python("print('last words')") as child,
        pytest.raises(ChildFailedError, match="last words"),
    ):
        child.wait_for("something else")


def test_child_that_says_no_json_is_told_with_what_it_said() -> None:
    with python("raise ValueError('oops')") as child, pytest.raises(ChildFailedError, match="oops"):
        child.result(20.0)


def test_child_that_says_nothing_is_given_up(sleeper: Child) -> None:
    with pytest.raises(ChildFailedError, match="said nothing"):
        sleeper.result(0.05)


def test_child_uses_cpu_time(sleeper: Child) -> None:
    assert sleeper.cpu_s() >= 0.0


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_running(pid: int) -> bool:
    """Whether a process still runs: one that has ended may wait for init to take note of it."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_external_broker_that_is_not_installed_skips_the_experiment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bench.readings.session.find_mosquitto", lambda: None)
    (outcome,) = latency.measure(brokers=["external"])
    assert outcome == Skipped("latency external", "mosquitto is not installed")


def test_sigterm_ends_every_process_of_the_benchmark() -> None:
    program = "from bench.command import run; exit(run(['latency', '--broker', 'embedded']))"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.DEVNULL) as bench:
        try:
            until = monotonic() + 60
            while len(started := children(bench.pid)) < 4 and monotonic() < until:
                Event().wait(0.05)
            assert len(started) == 4
        finally:
            bench.terminate()
    assert bench.returncode == 130
    until = monotonic() + 10
    while any(is_running(pid) for pid in started) and monotonic() < until:
        Event().wait(0.05)
    assert not any(is_running(pid) for pid in started)


def test_shapes_are_37_and_each_has_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["shapes", "--nodes", "20", "--updates", "10", "--json"]) == 0
    (found,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert found["matches"]
    assert len(found["table"]) == 37
    assert all(line["mismatches"] == 0 and line["tier"] for line in found["table"])


def test_random_updates_do_what_they_say() -> None:
    data = Data(30, "seed")
    store = Store()
    store.extend(data.quads)
    for _ in range(50):
        store.update(data.update())
        assert set(store) == data.quads.keys()


def test_shapes_that_miss_a_change_are_a_mismatch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Subscriptions, "address", lambda *_: Told())
    (outcome,) = shapes_run.measure(20, 10)
    assert isinstance(outcome, Experiment)
    assert not outcome.matches
    assert any(line["mismatches"] for line in outcome.table)


def test_both_modes_tell_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--roads", "1", "--subscriptions", "4", "--repeats", "1", "--json"]
    assert run(["parallel", *arguments]) == 0
    experiment = json.loads(capsys.readouterr().out)
    assert experiment["matches"]
    assert {line["workers"] for line in experiment["table"]} >= {0, 2}
    assert {line["in workers"] for line in experiment["table"] if line["workers"] == 2} >= {0, 4}


def test_scalability_tells_all_subscribers_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["scalability", "--roads", "2", "--subscribers", "3", "--json"]) == 0
    (found,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert found["matches"]
    assert [line["subscribers"] for line in found["table"]] == [1, 3] * 4


def test_growth_is_of_subscriptions_and_of_triples(capsys: pytest.CaptureFixture[str]) -> None:
    sizes = ["--fine", "300", "--coarse", "5", "--triples", "20000"]
    assert run(["growth", "--roads", "6", *sizes, "--json"]) == 0
    (found,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert found["matches"]
    lines = {line["grown"]: line for line in found["table"]}
    assert lines["fine"]["subscriptions"] == 303
    assert lines["coarse"]["subscriptions"] == lines["base"]["subscriptions"] + 2
    assert lines["triples"]["triples"] > 15_000 > lines["base"]["triples"]


def test_growth_beyond_the_memory_is_skipped(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["growth", "--triples", f"{10**13}", "--json"]) == 0
    assert "lack" in json.loads(capsys.readouterr().out)["skipped"]


def test_latency_of_an_update_is_that_of_every_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notification_latency, "RATES", (100.0,))
    (outcome,) = notification_latency.measure(0.5)
    assert isinstance(outcome, Experiment)
    assert outcome.matches
    figures = {each.name: each.value for each in outcome.figures}
    assert figures["updates"] == 50
    assert 0 < figures["p50"] <= figures["p99"] <= figures["max"]


def test_fanout_compares_the_gateway_with_a_bare_loop() -> None:
    (outcome,) = fanout.measure(sockets=5, rounds=2)
    assert isinstance(outcome, Experiment)
    assert outcome.matches
    figures = {each.name: each.value for each in outcome.figures}
    assert (figures["sockets"], figures["rounds"]) == (5, 2)
    assert figures["gateway p50"] > 0
    assert figures["bare loop p50"] > 0


def test_journal_is_within_its_goals_and_reads_back_what_was_written(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["journal", "--observations", "3200", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["matches"]
    assert report["figures"]["sealed"] <= 40
    assert report["figures"]["writes"] <= 1 / 32 + 0.001
    assert report["figures"]["fsyncs"] <= 1 / 32 + 0.001
