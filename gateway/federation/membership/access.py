"""Who may say what over whose link: the carrier's access control, made of the roster.

    certificate's name of a link, key, direction -> let through, or dropped

Place: between the roster and the carrier's settings. Everything that is not named here is dropped:
a member speaks under keys of its own, to whom they name, and hears what is for it. A hub passes on
what others say, so whoever is behind it is believed because the hub is. Source: Eclipse Zenoh 1.10,
its documentation of access control; keys below `@adv` are those of advanced publishers.
"""

from collections.abc import Iterator, Mapping, Sequence

from gateway.federation.membership.roster import Roster

_SAYS = ("put", "delete", "reply")
_ASKS = ("declare_subscriber", "query")
_OFFERS = ("declare_queryable", "liveliness_token")
_WATCHES = ("declare_liveliness_subscriber", "liveliness_query")

Rules = Mapping[str, object]


def access(roster: Roster, member: str) -> Rules:
    """The section `access_control` of a member's session; what is not in it is denied."""
    rules: list[Rules] = []
    policies: list[Rules] = []
    subjects: list[Rules] = []
    for other in sorted(roster.others(member)):
        own, theirs = _named(roster, member), _named(roster, other)
        found = [*_rules("ingress", other, theirs, own), *_rules("egress", other, own, theirs)]
        rules += found
        subjects.append({"id": other, "cert_common_names": [other]})
        policies.append({"subjects": [other], "rules": [each["id"] for each in found]})
    return {
        "enabled": True,
        "default_permission": "deny",
        "rules": rules,
        "subjects": subjects,
        "policies": policies,
    }


def _named(roster: Roster, member: str) -> str:
    """A member in a key; a hub stands for everybody."""
    return "*" if roster.members[member].is_hub else member


def _rules(flow: str, other: str, speaker: str, hearer: str) -> Iterator[Rules]:
    """What may pass one way: the speaker's words, and its questions for the hearer's."""
    said, heard = _keys(speaker, hearer), _keys(hearer, speaker)
    up = f"sosa/1/up/{speaker}"
    for name, messages, keys in (
        ("says", _SAYS, said),
        ("asks", _ASKS, heard),
        ("offers", _OFFERS, [*said[1:], up]),
        ("watches", _WATCHES, [*heard[1:], "sosa/1/up/*"]),
    ):
        yield {
            "id": f"{other} {flow} {name}",
            "permission": "allow",
            "flows": [flow],
            "messages": list(messages),
            "key_exprs": list(keys),
        }


def _keys(speaker: str, hearer: str) -> Sequence[str]:
    channels = f"sosa/1/{speaker}/{hearer}/*"
    return channels, f"{channels}/@adv/**"
