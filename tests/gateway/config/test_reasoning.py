"""The section [reasoning]: what it means, and what is said of a wrong one."""

from pathlib import Path

import pytest

from gateway.config.file import load_config
from gateway.config.reasoning import ReasoningSettings
from gateway.errors import ConfigurationError
from gateway.reasoning.ontologies import shipped

JOINT = '[[reasoning.joint]]\ngraphs = ["urn:a", "urn:b"]\ninto = "urn:c"\n'
OWN = "https://sosa-gateway.example/graph/mappings"


def loaded(folder: Path, text: str) -> ReasoningSettings:
    path = folder / "gateway.toml"
    path.write_text(text)
    return load_config(path, {}).reasoning


def refusal(folder: Path, text: str) -> str:
    with pytest.raises(ConfigurationError) as caught:
        loaded(folder, text)
    return caught.value.description.replace(f"{folder}/", "")


def test_reasoning_is_off_unless_graphs_are_named(tmp_path: Path) -> None:
    assert not loaded(tmp_path, "").is_on
    assert loaded(tmp_path, '[reasoning]\ngraphs = "default"\n').is_on
    assert loaded(tmp_path, JOINT).is_on
    assert loaded(tmp_path, JOINT).derived == 500_000


def test_ontologies_are_names_that_ship_or_files_beside_the_settings(tmp_path: Path) -> None:
    told = loaded(tmp_path, '[reasoning]\nontologies = ["sosa-profile", "own.ttl", "/x/y.owl"]\n')
    assert told.ontologies == (shipped()["sosa-profile"], tmp_path / "own.ttl", Path("/x/y.owl"))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('[reasoning]\ngraphs = ["house"]', ":2: reasoning.graphs.0: write the IRI of a graph"),
        (f'[reasoning]\ngraphs = ["{OWN}"]', ":2: reasoning.graphs.0: the gateway's own graphs"),
        (f"{JOINT.replace('urn:b', '*')}", ":2: reasoning.joint.0.graphs.1: name the graphs"),
        (f"{JOINT.replace('urn:c', 'default')}", ":3: reasoning.joint.0.into: write the IRI"),
        (f"{JOINT.replace('urn:c', 'urn:a')}", "reasoning: urn:a is in two domains"),
        (f'[reasoning]\ngraphs = ["urn:c"]\n{JOINT}', "reasoning: urn:c is in two domains"),
        (JOINT + JOINT, "reasoning: urn:a is in two domains"),
        ("[reasoning]\ninfer = true", "reasoning: infer = true needs graphs"),
        ("[reasoning]\nderived = 0", ":2: reasoning.derived: "),
        ('[reasoning]\nontologies = ["bilding"]', "no ontology 'bilding' ships"),
        (
            f"{JOINT}{JOINT.replace('into', 'inot')}",
            ":6: reasoning.joint.1.inot: unknown setting; did you mean 'into'?",
        ),
    ],
    ids=[
        *("no-iri", "own-graph", "star-in-joint", "default-into", "into-listed-there"),
        *("into-listed", "two-joint", "infer-off", "no-bound", "unknown-ontology", "typo-in-joint"),
    ],
)
def test_wrong_settings_are_named_with_what_is_wrong(
    tmp_path: Path, text: str, reason: str
) -> None:
    assert reason in refusal(tmp_path, text)
