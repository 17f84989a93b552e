"""What an archive has, in the form of the fleet's truth; read without Spark and our code."""

import gzip
import hashlib
import json
from pathlib import Path

import duckdb
from deltalake import DeltaTable

from spark_batch.archive import Archive
from spark_batch.tools.fleet import BASE, Truth

_ROWS = """
    SELECT gateway, epoch, sequence, sensor, property, feature,
      epoch_us(result_time), epoch_us(result_time) + delay_us,
      coalesce(lexical, "text", geometry, "boolean"::VARCHAR,
        CASE WHEN number = floor(number) AND abs(number) < 9007199254740992
          THEN number::BIGINT::VARCHAR ELSE number::VARCHAR END),
      datatype, unit
    FROM read_parquet(?) ORDER BY gateway, epoch, sequence
"""


def rows(archive: Archive) -> list[Truth]:
    """Every row, by identity."""
    files = DeltaTable(str(archive.observations.folder)).file_uris()
    if not files:
        return []
    with duckdb.connect() as connection:
        return [Truth(*row) for row in connection.execute(_ROWS, [files]).fetchall()]


def reading(sequence: int, **members: object) -> dict[str, object]:
    """A line of a segment."""
    t = 1_788_220_800_000_000 + sequence * 1_000_000
    fields: dict[str, object] = {
        "q": sequence,
        "s": "urn:s",
        "p": "urn:p",
        "f": "urn:f",
        "v": f"{sequence}.5",
        "d": "http://www.w3.org/2001/XMLSchema#decimal",
        "t": t,
        "i": t + 20_000,
    }
    return {name: value for name, value in (fields | members).items() if value is not None}


def write_segment(
    landing: Path,
    lines: list[dict[str, object]],
    *,
    gateway: str = "kitchen",
    epoch: int = 7,
    count: int | None = None,
    schema: str = "1.0",
    labels: object = None,
) -> Path:
    """Seal these lines as docs/segments.md says."""
    first = lines[0]["q"]
    header = {"schema": schema, "gateway": gateway, "base": BASE, "epoch": epoch, "first": first}
    if labels is not None:
        header["labels"] = labels
    text = "".join(json.dumps(line) + "\n" for line in [header, *lines])
    content = gzip.compress(text.encode(), mtime=0)
    sha12 = hashlib.sha256(content).hexdigest()[:12]
    name = f"{gateway}-{epoch:08d}-{first:012d}-{count or len(lines)}-{sha12}.jsonl.gz"
    path = landing / name
    path.write_bytes(content)
    return path
