"""The agents of a chat: `python -m …applications.chat ROLE PROFILE PERSON [TO COUNT]`.

A client is a sender, a receiver and a remover. Each says what it does, a JSON list on a line.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path

from pyoxigraph import Literal

from gateway.client import Aggregator, Producer
from gateway.rdf.solutions import Solution


def say(*words: str) -> None:
    """A line for whoever has started this."""
    sys.stdout.write(json.dumps(words) + "\n")
    sys.stdout.flush()


def text_of(message: Solution) -> str:
    """The text in a solution of SENT."""
    text = message["text"]
    return text.value if isinstance(text, Literal) else str(text)


def receive(profile: Path, person: str) -> None:
    """Confirm every message; one that goes is known by its sender to have come."""
    with Aggregator(profile, "SENT", "SET_RECEIVED", {"receiver": person}) as inbox:
        say("ready")
        for notification in inbox:
            for message in notification.added:
                say("received", text_of(message))
                inbox.update({"message": message["message"]})
            for message in notification.removed:
                say("known", text_of(message))


def remove(profile: Path, person: str) -> None:
    """Remove every message that has come."""
    with Aggregator(profile, "RECEIVED", "REMOVE", {"sender": person}) as received:
        say("ready")
        for notification in received:
            for message in notification.added:
                received.update({"message": message["message"]})
                say("removed", str(message["message"]))


def send(profile: Path, person: str, to: str, count: str) -> None:
    """So many messages, one after another."""
    with Producer(profile, "SEND") as sender:
        for number in range(int(count)):
            sender.update({"text": f"{number} from {person}", "sender": person, "receiver": to})
    say("sent")


ROLES: dict[str, Callable[..., None]] = {"receiver": receive, "remover": remove, "sender": send}

if __name__ == "__main__":
    ROLES[sys.argv[1]](Path(sys.argv[2]), *sys.argv[3:])
