"""The shapes of a profile, with the error of a job for one that has none."""

from importlib import resources
from pathlib import Path

from jsap.errors import JsapError
from jsap.profile import load_profile
from jsap.shapes.shape import NEEDED, Shapes, shapes_of
from spark_batch.errors import ArchiveError

_SHIPPED = "profiles/observations.jsap"


def load_shapes(profile: Path | None = None) -> Shapes:
    """The shapes of a JSAP profile, None: of the shipped one; raises ArchiveError."""
    try:
        with resources.as_file(resources.files("jsap") / _SHIPPED) as shipped:
            return shapes_of(load_profile(profile or shipped).updates)
    except (JsapError, OSError, KeyError, SyntaxError) as error:
        raise ArchiveError(
            f"the profile {profile} cannot be used: {error}",
            f"give a JSAP profile with the updates {' and '.join(NEEDED)}",
        ) from error
