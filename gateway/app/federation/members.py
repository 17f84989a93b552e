"""A member as the configuration has it: its folder, where it is reached, its links by a roster."""

from gateway.config.settings import Config
from gateway.federation.membership.access import access
from gateway.federation.membership.folder import Membership, MembershipFolder
from gateway.federation.membership.links import Opened
from gateway.federation.membership.places import ANYWHERE_HOST, PORT, Place
from gateway.federation.membership.roster import Entry
from gateway.federation.zenoh_carrier import Endpoints, TlsFiles, ZenohCarrier


def membership_folder(config: Config) -> MembershipFolder:
    """Where certificates and roster are kept."""
    return MembershipFolder(config.gateway.data_dir / "federation")


def listening(config: Config) -> Place:
    """Where this gateway waits for members."""
    return Place.parse(config.federation.listen or ANYWHERE_HOST, PORT)


def own_entry(config: Config) -> Entry:
    """This gateway where it has the CA: all others reach it by `via`."""
    via = Place.parse(config.federation.via, PORT)
    return Entry((str(via),), config.federation.hub)


def zenoh_links(config: Config) -> Opened:
    """The sessions of this gateway, by the versions of the roster."""
    member, folder = config.gateway.id, membership_folder(config)
    files = TlsFiles(str(folder.authority), str(folder.certificate), str(folder.key))
    via = str(Place.parse(config.federation.via, PORT))

    def opened(membership: Membership) -> ZenohCarrier:
        roster = membership.signed.roster
        endpoints = Endpoints(
            (str(listening(config)),) if roster.is_dialled(member) else (),
            roster.dialled_by(member, via),
            files,
            access(roster, member),
            is_routed=bool(roster.hubs),
        )
        return ZenohCarrier(member, roster.others(member), endpoints)

    return opened
