"""`sosa-gateway`, and `python -m gateway`: where the program begins.

Only here is something imported late: an interrupt while the rest is loaded is one as well.
"""

import signal
import sys
from types import FrameType
from typing import NoReturn


def main() -> int:
    """Run the command of this process's arguments; gives the exit code."""
    try:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _interrupt)
        from gateway.cli.command import main as run  # noqa: PLC0415

        return run()
    except KeyboardInterrupt:
        return 130
    finally:
        # It has ended; one more Ctrl-C must not show how the interpreter does.
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
    """The first Ctrl-C ends the command in order, the next one at once and in silence."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
