"""Every command with its options, from the parsers that read them."""

from collections.abc import Iterator

from deploy.site.reference.tables import code, table, words
from gateway.cli.command import documented
from gateway.cli.options import Documented


def commands_page() -> str:
    """One chapter a command; those that are programs of their own have their purpose alone."""
    head = "# Command line\n\nMade of the parsers, as `sosa-gateway COMMAND --help` tells it.\n"
    return "\n".join([head, *(line for each in documented() for line in _chapter(each))])


def _chapter(command: Documented) -> Iterator[str]:
    level = "##" if len(command.words) == 1 else "###"
    yield f"{level} {' '.join(command.words)}\n\n{_sentence(command.purpose)}\n"
    if command.options:
        told = [[code(name), words(meaning)] for name, meaning in command.options]
        yield table(["option", "meaning"], told) + "\n"


def _sentence(purpose: str) -> str:
    text = words(purpose)
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")
