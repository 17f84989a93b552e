"""Manual pages and bash completion, written from the parsers and from gateway.example.toml.

What `sosa-gateway --help` knows is told here as well, so neither can be older than the other.
Source of the form: man-pages(7), groff_man(7).
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from gateway.cli.options import Documented

_FILES = (
    ("/etc/sosa-gateway/gateway.toml", "the settings, see sosa-gateway.toml(5)"),
    ("/var/lib/sosa-gateway-slots", "releases of `upgrade`, root's alone"),
    ("/var/lib/sosa-gateway", "store, journal and keys; of the user sosa-gateway alone"),
)
_EXIT = (("0", "done"), ("1", "refused or failed"), ("2", "wrong usage"), ("130", "interrupted"))


def command_page(commands: Iterable[Documented], version: str, epoch: int) -> str:
    """sosa-gateway(1): every command with its options."""
    lines = [_title("SOSA\\-GATEWAY", 1, version, epoch)]
    lines += [".SH NAME", "sosa\\-gateway \\- MQTT readings become SOSA triples; SPARQL tells"]
    lines += ["what changed", ".SH SYNOPSIS", ".B sosa\\-gateway", ".I COMMAND", "[OPTION ...]"]
    lines += [".SH DESCRIPTION", "An IoT edge gateway. As a service it is started by systemd;"]
    lines += ["the other commands look after it or ask it.", ".SH COMMANDS"]
    for command in commands:
        lines += _command(command)
    lines += [".SH EXIT STATUS", *_pairs(_EXIT), ".SH FILES", *_pairs(_FILES)]
    return "\n".join([*lines, ".SH SEE ALSO", ".BR sosa\\-gateway.toml (5)", ""])


def settings_page(example: str, version: str, epoch: int) -> str:
    """sosa-gateway.toml(5): every setting with its default and what it is for."""
    lines = [_title("SOSA\\-GATEWAY.TOML", 5, version, epoch)]
    lines += [".SH NAME", "sosa\\-gateway.toml \\- settings of sosa\\-gateway", ".SH DESCRIPTION"]
    lines += ["Read from /etc/sosa\\-gateway/gateway.toml.", ".nf"]
    lines += [_safe(line) for line in example.splitlines()]
    return "\n".join([*lines, ".fi", ".SH SEE ALSO", ".BR sosa\\-gateway (1)", ""])


def completion(commands: Sequence[Documented]) -> str:
    """For bash: commands, those below them, options; files where nothing else fits."""
    below: dict[str, list[str]] = defaultdict(list)
    for command in commands:
        *before, last = command.words
        below[" ".join(before)].append(last)
        below[" ".join(command.words)] += _options(command)
    cases = [
        f'    "{words}") words="{" ".join(known)}" ;;' for words, known in below.items() if known
    ]
    return _COMPLETION.replace("@CASES@", "\n".join(cases))


_COMPLETION = """\
# bash completion for sosa-gateway
_sosa_gateway() {
  local current="${COMP_WORDS[COMP_CWORD]}" path="" word words=""
  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) break ;; *) path="${path:+$path }$word" ;; esac
    [[ "$path" == *" "* ]] && break
  done
  _sosa_gateway_words "$path" || _sosa_gateway_words "${path%% *}"
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
_sosa_gateway_words() {
  case "$1" in
@CASES@
    *) return 1 ;;
  esac
}
complete -o default -F _sosa_gateway sosa-gateway
"""


def _options(command: Documented) -> list[str]:
    return [
        name for option, _ in command.options for name in re.findall(r"(?<!\S)--[\w-]+", option)
    ]


def _title(name: str, section: int, version: str, epoch: int) -> str:
    day = datetime.fromtimestamp(epoch, UTC).date().isoformat()
    return f'.TH {name} {section} "{day}" "sosa\\-gateway {version}"'


def _command(command: Documented) -> Iterator[str]:
    yield f".SS {_safe(' '.join(command.words))}"
    yield f"{_safe(command.purpose)}."
    yield from _pairs(command.options)


def _pairs(told: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, meaning in told:
        yield from (".TP", f".B {_safe(name)}", _safe(meaning) or "\\&")


def _safe(text: str) -> str:
    """As groff prints it: what would be a request or an escape is none."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return f"\\&{escaped}" if escaped.startswith(".") else escaped
