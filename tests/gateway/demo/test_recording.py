"""gateway.demo.recording: a CSV file as messages and mappings."""

import csv
import json
from pathlib import Path

import pytest

from gateway.demo.recording import Recording, read_recording
from gateway.errors import ConfigurationError
from tests.paths import SHARED

MULTI_HOP = SHARED / "data" / "sensors" / "wsn-multi-hop" / "data.csv"


def recorded(folder: Path, text: str, name: str = "lab.csv") -> Recording:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return read_recording(path)


def mappings(recording: Recording) -> list[dict[str, str]]:
    extended = recording.profile()["extended"]
    assert isinstance(extended, dict)
    return list(extended["mappings"])


def test_columns_tell_their_part_by_name_and_content(tmp_path: Path) -> None:
    recording = recorded(tmp_path, "time,reading,mote_id,note,humidity\n0,1,7,dry,43.8\n")
    assert recording.properties == ("humidity",)
    assert (recording.sensor, recording.time, recording.sequence) == ("mote_id", "time", "reading")


def test_a_row_is_one_message_with_the_digits_of_the_file(tmp_path: Path) -> None:
    recording = recorded(tmp_path, "reading,mote_id,humidity,temperature\n1,7,43.80,3e1\n")
    (publication, seconds) = next(iter(recording.publications()))
    assert publication.topic == "replay/lab/7"
    assert publication.payload == b'{"humidity":43.80,"temperature":3e1,"reading":1}'
    assert seconds is None


def test_an_empty_cell_is_left_out_and_odd_text_is_quoted(tmp_path: Path) -> None:
    lines = ["a,b", *["1,2"] * 100, ",nan", "007"]
    payloads = [each.payload for each, _ in recorded(tmp_path, "\n".join(lines)).publications()]
    assert payloads[-2:] == [b'{"b":"nan"}', b'{"a":"007"}']


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        (("10", "12.5"), [10.0, 12.5]),
        (("2026-01-01T00:00:00Z", "2026-01-01T00:00:05+00:00"), [1767225600.0, 1767225605.0]),
        (("soon", ""), [None, None]),
    ],
)
def test_the_time_of_a_row_is_in_seconds(
    tmp_path: Path, times: tuple[str, str], expected: list[float | None]
) -> None:
    recording = recorded(tmp_path, "Timestamp,a\n" + "".join(f"{time},1\n" for time in times))
    assert [seconds for _, seconds in recording.publications()] == expected


def test_each_property_has_a_mapping_that_finds_it(tmp_path: Path) -> None:
    recording = recorded(tmp_path, "seq,box_id,CO2 ppm\n1,a,400\n")
    (mapping,) = mappings(recording)
    assert mapping["topic"] == "replay/lab/+"
    assert mapping["selector"] == "$['CO2 ppm']"
    assert mapping["sequence"] == "$['seq']"
    assert mapping["property"].endswith("/CO2%20ppm")
    assert "time" not in mapping


def test_names_cannot_leave_their_topic_level_or_iri(tmp_path: Path) -> None:
    recording = recorded(tmp_path, "box_id,it's\na/b+#,1\n", "a #+ b.csv")
    (publication, _) = next(iter(recording.publications()))
    assert publication.topic == "replay/a%20%23%2B%20b/a%2Fb%2B%23"
    (mapping,) = mappings(recording)
    assert mapping["selector"] == "$['it\\'s']"
    assert "'" not in mapping["property"]


@pytest.mark.parametrize(
    ("text", "told"),
    [("", "no rows"), ("a,b\n", "no rows"), ("a,b\nx,y\n", "no numeric column among a, b")],
)
def test_a_file_without_readings_is_refused(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(ConfigurationError, match=told):
        recorded(tmp_path, text)


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot read"):
        read_recording(tmp_path / "absent.csv")


@pytest.mark.skipif(not MULTI_HOP.exists(), reason="no wsn-multi-hop sample data beside us")
def test_every_row_of_the_multi_hop_network_becomes_its_message() -> None:
    recording = read_recording(MULTI_HOP)
    assert recording.properties == ("indoor", "humidity", "temperature", "label")
    with MULTI_HOP.open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    publications = [publication for publication, _ in recording.publications()]
    assert len(publications) == len(rows) == 18_760
    for row, publication in zip(rows, publications, strict=True):
        assert publication.device == row["mote_id"]
        members = json.loads(publication.payload, parse_float=str, parse_int=str)
        assert members == {key: value for key, value in row.items() if key != "mote_id"}
