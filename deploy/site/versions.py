"""Sites of several releases in one folder, and the list of them that the page's selector reads.

    FOLDER/0.1.0  FOLDER/0.2.0  ->  FOLDER/versions.json, FOLDER/index.html (leads to the newest)

A folder is the site of a release as `make release` packs it, or as `make docs VERSION=…` builds it.
Source of the form: mkdocs-material, "Setting up versioning"; mike, versions.json.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from packaging.version import InvalidVersion, Version

LIST = "versions.json"
_START = """\
<!doctype html>
<meta charset="utf-8">
<title>sosa-gateway</title>
<meta http-equiv="refresh" content="0; url={version}/">
<a href="{version}/">sosa-gateway {version}</a>
"""


def main(arguments: Sequence[str]) -> int:
    """List the versions of the folder that is named; the exit code."""
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        sys.stderr.write("usage: python -m deploy.site.versions FOLDER\n")
        return 2
    found = list_versions(Path(arguments[0]))
    sys.stdout.write(f"{arguments[0]}: {', '.join(found) or 'no site of a version'}\n")
    return 0 if found else 1


def list_versions(folder: Path) -> list[str]:
    """Write list and first page; the versions that are there, the newest first."""
    found = sorted(
        (path.name for path in folder.iterdir() if _is_site(path)), key=Version, reverse=True
    )
    listed = [
        {"version": each, "title": each, "aliases": ["latest"] if each == found[0] else []}
        for each in found
    ]
    (folder / LIST).write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")
    if found:
        (folder / "index.html").write_text(_START.format(version=found[0]), encoding="utf-8")
    return found


def _is_site(path: Path) -> bool:
    try:
        Version(path.name)
    except InvalidVersion:
        return False
    return (path / "index.html").is_file()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
