"""Every datatype as pysparkplug encodes it, run by that client's own interpreter.

It prints a DBIRTH payload in hex; the metrics have the names of their datatypes.
"""

from datetime import UTC, datetime

from pysparkplug import DataType, DBirth, Metric

VALUES = {
    DataType.INT8: -5,
    DataType.INT16: -300,
    DataType.INT32: -70_000,
    DataType.INT64: -5_000_000_000,
    DataType.UINT8: 250,
    DataType.UINT16: 65_535,
    DataType.UINT32: 2**32 - 1,
    DataType.UINT64: 2**64 - 1,
    DataType.FLOAT: 0.1,
    DataType.DOUBLE: 1e-9,
    DataType.BOOLEAN: True,
    DataType.STRING: "grün",
    DataType.DATETIME: datetime(2026, 3, 2, 7, 15, tzinfo=UTC),
    DataType.TEXT: "t",
    DataType.UUID: "0d1f6a5e-58c0-4d6f-9b3e-2a7f1c9be310",
    DataType.BYTES: b"\0\xff",
    DataType.FILE: b"f",
    DataType.INT8_ARRAY: (-1, 2),
    DataType.INT16_ARRAY: (-300, 300),
    DataType.INT32_ARRAY: (-70_000, 7),
    DataType.INT64_ARRAY: (-5_000_000_000, 7),
    DataType.UINT8_ARRAY: (0, 255),
    DataType.UINT16_ARRAY: (0, 65_535),
    DataType.UINT32_ARRAY: (0, 2**32 - 1),
    DataType.UINT64_ARRAY: (0, 2**64 - 1),
    DataType.FLOAT_ARRAY: (0.1, -2.5),
    DataType.DOUBLE_ARRAY: (1e-9, 0.1),
    DataType.BOOLEAN_ARRAY: (True, False, True, True, False, False, False, False, True),
    DataType.STRING_ARRAY: ("a", 'b"c', ""),
    DataType.DATETIME_ARRAY: (datetime(2026, 3, 2, 7, 15, tzinfo=UTC),),
}


def main() -> None:
    """One payload of all of them."""
    metrics = [
        Metric(timestamp=1, name=datatype.name, datatype=datatype, value=value)
        for datatype, value in VALUES.items()
    ]
    birth = DBirth(timestamp=1, seq=1, metrics=metrics)
    print(birth.encode(include_dtypes=True).hex())  # noqa: T201


if __name__ == "__main__":
    main()
