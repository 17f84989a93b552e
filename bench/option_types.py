"""What options of `sosa-gateway bench` take; each raises argparse.ArgumentTypeError."""

import argparse
from collections.abc import Sequence

from bench.sepbm import sepbm


def adapters(text: str) -> Sequence[str]:
    """Names of SEP-BM's adapters, with commas between them."""
    names = text.split(",")
    for name in names:
        if name not in sepbm.ADAPTERS and not name.startswith("sepa=http://"):
            known = ", ".join(sepbm.ADAPTERS)
            raise argparse.ArgumentTypeError(f"{name!r} is none of {known}, sepa=http://…")
    return names


def count(text: str) -> int:
    """A whole number above 0."""
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def positive(text: str) -> float:
    """A number above 0."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return number
