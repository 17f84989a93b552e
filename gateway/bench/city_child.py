"""One way of running the city in a process of its own: `python -m gateway.bench.city_child JSON`.

Place on the way of the data: city_run.py tells it "value updates" on its standard input, this
process runs so many updates of its profile, each setting the value, and says what they cost and
brought. So no way pays for the heap of another, and each one's memory is known.
"""

import gc
import json
import resource
import sys
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter, process_time

from gateway.bench.city_profile import Profile
from gateway.bench.city_ways import WAYS, Way


def main() -> None:
    """Get ready, say so, and answer a line for each line, until there are no more."""
    specification = json.loads(sys.argv[1])
    profile = Profile(specification["profile"], specification["roads"])
    started = process_time()
    way = WAYS[specification["way"]](profile)
    memory = resident_bytes()
    for update in profile.warm_up:
        way.step(way.prepare(update))
    gc.collect()
    gc.freeze()  # as in a process that has run for long: what stays is not looked at again
    _say({"ready_s": process_time() - started, "memory_bytes": memory})
    for line in sys.stdin:
        value, count = line.split()
        _say(_run(way, profile, value, int(count)))


def _run(way: Way, profile: Profile, value: str, count: int) -> Mapping[str, object]:
    updates = profile.updates(value)[:count]
    prepared = [way.prepare(update) for update in updates]
    cpu_s, wall_s = process_time(), perf_counter()
    outcomes = [way.step(each) for each in prepared]
    cpu_s, wall_s = process_time() - cpu_s, perf_counter() - wall_s
    told = zip(updates, outcomes, strict=True)
    return {
        "cpu_ms": cpu_s * 1000 / len(updates),
        "wall_ms": wall_s * 1000 / len(updates),
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
