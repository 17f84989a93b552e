"""`systemctl` for a root where no systemd runs: one service, as its unit says, and no more.

Copied into the root and run by its Python; what it knows lies below /run/stand-in.
"""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

STATE = Path("/run/stand-in")
UNIT = Path("/usr/lib/systemd/system/sosa-gateway.service")
PATIENCE_S = 600.0


def said(name: str) -> str:
    """A setting of the unit."""
    found = re.findall(rf"^{name}=(.*)$", UNIT.read_text(), re.MULTILINE)
    return str(found[0]) if found else ""


def pid() -> int:
    """That of the gateway, 0 where it does not run; no /proc is mounted here."""
    try:
        number = int((STATE / "pid").read_text())
        os.kill(number, 0)
    except (OSError, ValueError):
        return 0
    return number


def start() -> int:
    """Done when it has said READY=1; what it says goes on being read behind us."""
    if pid():
        return 0
    STATE.mkdir(exist_ok=True)
    (STATE / "status").write_text("")
    before = said("ExecStartPre").removeprefix("+")
    subprocess.run(["sh", "-c", before], check=True)
    address = STATE / "notify"
    address.unlink(missing_ok=True)
    told = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    told.bind(str(address))
    address.chmod(0o777)
    if os.fork():
        return wait()
    serve(told)
    os._exit(0)


def wait() -> int:
    """Until it is ready (0) or has ended (1)."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        text = (STATE / "status").read_text()
        if "READY=1" in text:
            return 0
        if "ENDED" in text:
            break
        time.sleep(0.05)
    sys.stderr.write((STATE / "log").read_text()[-4000:])
    return 1


def serve(told: socket.socket) -> None:
    """Run it, and note what it says, until it ends."""
    os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):  # nobody waits for us to end
        os.dup2(nowhere, descriptor)
    log = (STATE / "log").open("ab")
    environ = {**os.environ, "NOTIFY_SOCKET": str(STATE / "notify")}
    process = subprocess.Popen(
        said("ExecStart").split(),
        user=said("User"),
        group=said("Group"),
        extra_groups=[],
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        umask=0o077,
        cwd=said("WorkingDirectory"),
    )
    (STATE / "pid").write_text(str(process.pid))
    told.settimeout(0.2)
    with (STATE / "status").open("a") as status:
        while process.poll() is None:
            try:
                status.write(told.recv(4096).decode() + "\n")
                status.flush()
            except TimeoutError:
                continue
        status.write("ENDED\n")


def stop() -> int:
    """In order."""
    number = pid()
    if number:
        os.kill(number, signal.SIGTERM)
        end = time.monotonic() + PATIENCE_S
        while pid() and time.monotonic() < end:
            time.sleep(0.05)
    return 1 if pid() else 0


def restart() -> int:
    """A stop, and a start behind it."""
    return stop() or start()


def show() -> int:
    """What is asked for by the updater."""
    words = re.findall(r"^STATUS=(.*)$", (STATE / "status").read_text(), re.MULTILINE)
    state = "active" if pid() else "inactive"
    sys.stdout.write(f"ActiveState={state}\nStatusText={words[-1] if words else ''}\n")
    return 0


if __name__ == "__main__":
    verbs = {"start": start, "stop": stop, "restart": restart, "show": show}
    sys.exit(verbs[sys.argv[1]]() if sys.argv[1] in verbs else 0)
