"""What builds a release of a tag: everything that is published, once, the same bytes each time.

    tag -> export -> sdist -> wheel; packages -> bill of materials; site; image -> sums, signature

Place: docs/releases.md says how it is called (`make release`) and what comes out.
"""
