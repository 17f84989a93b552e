"""`Benchmark`: one verb of `sosa-gateway bench`, its options and what it measures."""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from bench.report import Outcome

Measure = Callable[[argparse.Namespace], Iterator[Outcome]]


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One benchmark as the command line knows it; its `own` options are none of `all`."""

    name: str
    purpose: str
    measure: Measure
    options: Sequence[Callable[[argparse.ArgumentParser], None]]
    own: Sequence[Callable[[argparse.ArgumentParser], None]] = ()
