"""`sosa-gateway`, and `python -m gateway`: where the program begins.

Only here is something imported late: an interrupt while the rest is loaded is one as well.
"""

import sys


def main() -> int:
    """Run the command of this process's arguments; gives the exit code."""
    try:
        from gateway.cli.command import main as run  # noqa: PLC0415

        return run()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
