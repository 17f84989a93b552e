"""What builds the Debian package: wheels of a target, a tree of files, an archive; no emulation.

    pyproject.toml, constraints.txt -> wheels -> site-packages -> tree -> .deb

Nothing of the target runs here, so an amd64 machine builds for arm64 and the other way round.
"""
