"""What the start of a command loads: a device on one core pays for each module each time."""

import subprocess
import sys

import pytest

from gateway.cli.command import main
from gateway.cli.verbs import VERBS

_SERVER = {"amqtt", "argon2", "fastapi", "prometheus_client", "pydantic", "pyoxigraph", "uvicorn"}
_CLIENT = {"httpx", "rich", "websockets"}
_LOADED = """
import gc
import sys
from gateway.cli.command import main
before = gc.get_threshold()
try:
    main(sys.argv[1:])
except SystemExit:
    pass
assert gc.get_threshold() == before
print("loaded:", *sorted({name.partition(".")[0] for name in sys.modules}))
"""


@pytest.mark.parametrize(
    ("command", "unwanted"),
    [("version", _SERVER | _CLIENT), ("--help", _SERVER | _CLIENT), ("query", _SERVER | {"httpx"})],
)
def test_a_command_loads_what_it_needs_alone(command: str, unwanted: set[str]) -> None:
    given = (command, "--help") if command == "query" else (command,)
    done = subprocess.run(
        (sys.executable, "-c", _LOADED, *given), check=True, capture_output=True, text=True
    )
    loaded = set(done.stdout.rpartition("loaded:")[2].split())
    assert "gateway" in loaded
    assert not loaded & unwanted


@pytest.mark.parametrize("verb", [verb for verb, (_, module) in VERBS.items() if module])
def test_the_module_of_a_command_has_it(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main([verb, "--help"])
    assert caught.value.code == 0
    told = capsys.readouterr().out
    assert told.startswith(f"usage: sosa-gateway {verb} [-h]")
    assert VERBS[verb].purpose in " ".join(told.split())


@pytest.mark.parametrize("module", ["gateway.cli.command", "gateway.cli.sparql", "rich.console"])
def test_an_interrupt_while_it_loads_is_no_traceback(module: str) -> None:
    """Ctrl-C at the moment when a module is looked for."""
    program = f"""
import sys
class Interrupted:
    def find_spec(self, name, *_):
        if name == {module!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupted())
from gateway.__main__ import main
sys.argv = ["sosa-gateway", "query", "ASK {{}}"]
sys.exit(main())
"""
    command = (sys.executable, "-c", program)
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
