"""Ontologies that the settings and the profiles name: read as a start reads them."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from gateway.admin.profile_checks import Finding
from gateway.app.storage import remote_of
from gateway.cli.checking.folder import Where
from gateway.config.settings import Config
from gateway.errors import OntologyError
from gateway.profiles import read_profile
from gateway.reasoning.ontologies import OntologyFile, ontology_path
from jsap.errors import JsapError
from jsap.extended.quads import ontologies_of


def ontology_findings(config: Config, where: Where) -> Iterator[Finding]:
    """What keeps a gateway from reading them."""
    for word, place in _named(config, where).items():
        try:
            OntologyFile.at(ontology_path(word, place)).quads()
        except OntologyError as error:
            yield Finding.of(place, error)


def _named(config: Config, where: Where) -> Mapping[str, str]:
    """Words with the places where they stand first; wrong profiles are told of by others."""
    named = {str(path): where("reasoning", "ontologies") for path in config.reasoning.ontologies}
    for path in (*config.jsap.profiles, *filter(Path.exists, [config.saved_profile])):
        try:
            words = ontologies_of(read_profile(path, remote_of(config)))
        except (JsapError, OSError):
            continue
        named = {**dict.fromkeys(words, f"{path}: extended.ontologies"), **named}
    return named
