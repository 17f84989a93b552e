"""What a person sees of a fleet: progress, the table at the end, and what differs.

Place on the way of the data: the command line. Ctrl-C ends the simulation early; what was sent
until then is compared all the same.
"""

import asyncio
import signal

from rich.console import Console

from gateway.demo.fleet.comparison import MOST_SHOWN, table
from gateway.demo.fleet.session import FleetOptions, Outcome, run_fleet

EQUAL, DIFFERENT = 0, 1


async def fleet_command(options: FleetOptions, duration_s: float | None = None) -> int:
    """Run a fleet and say how it ended; the exit status. Raises a GatewayError."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    if duration_s is not None:
        loop.call_later(duration_s, stop.set)
    console = Console(highlight=False, soft_wrap=True)
    console.print(
        f"{options.count} devices, {options.minutes:g} minutes of simulated time, "
        f"seed {options.seed}; Ctrl-C ends it"
    )
    outcome = await run_fleet(options, console, stop)
    _report(outcome, console)
    return DIFFERENT if outcome.differences else EQUAL


def _report(outcome: Outcome, console: Console) -> None:
    for line in table(outcome.compared, outcome.messages):
        console.print(line)
    differences = outcome.differences
    for each in differences[:MOST_SHOWN]:
        console.print(str(each), markup=False)
    if len(differences) > MOST_SHOWN:
        console.print(f"... and {len(differences) - MOST_SHOWN} more")
    verdict = f"{len(differences)} items differ" if differences else "all equal"
    observed = sum(outcome.compared[0].truth.values()) if outcome.compared else 0
    console.print(
        f"summary: simulated_s={outcome.elapsed_s} wall_s={outcome.wall_s:.1f} "
        f"messages={outcome.messages.total()} observations={observed}: {verdict}"
    )
