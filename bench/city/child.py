"""One way of running the city in a process of its own: `python -m bench.city.child JSON`.

Place on the way of the data: turns.py tells it "value start stop" on its standard input, this
process runs these updates of its profile, each setting the value, and says what they cost and
brought.
"""

import gc
import json
import resource
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter, process_time

from bench.city.profile import Profile, Update
from bench.city.way import Way
from bench.city.ways import WAYS


def main() -> None:
    """Get ready, say so, and answer a line for each line, until there are no more."""
    specification = json.loads(sys.argv[1])
    profile = Profile(**specification["profile"])
    way = WAYS[specification["way"]](profile)
    before, started = resident_bytes(), process_time()
    way.subscribe()
    memory = resident_bytes()
    ready = {
        "subscribed_s": process_time() - started,
        "subscribed_bytes": memory - before,
        "memory_bytes": memory,
    }
    for update in profile.warm_up:
        way.step(way.prepare(update))
    way.begin()
    gc.collect()
    gc.freeze()  # as in a process that has run for long: what stays is not looked at again
    _say(ready)
    for line in sys.stdin:
        value, *bounds = line.split()
        _say(_run(way, profile.updates(value)[slice(*map(int, bounds))]))


def _run(way: Way, updates: Sequence[Update]) -> Mapping[str, object]:
    prepared = [way.prepare(update) for update in updates]
    cpu_s, wall_s = process_time(), perf_counter()
    outcomes = [way.step(each) for each in prepared]
    way.finish()
    cpu_s, wall_s = process_time() - cpu_s, perf_counter() - wall_s
    told = zip(updates, outcomes, strict=True)
    return {
        "cpu_ms": cpu_s * 1000,
        "wall_ms": wall_s * 1000,
        "rows": [row for update, outcome in told for row in way.rows(update, outcome)],
        "performance": way.performance(),
    }


def resident_bytes() -> int:
    """Memory of this process that is in RAM now; where the system does not say, the most ever."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text(encoding="ascii").split()[1]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _say(members: Mapping[str, object]) -> None:
    sys.stdout.write(f"{json.dumps(members)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
