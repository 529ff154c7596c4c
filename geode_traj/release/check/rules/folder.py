"""RL10xx, the folder: a closed world of plain files with plain names."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from geode_traj.errors import EXIT_PARTIAL
from geode_traj.release import layout
from geode_traj.release.check.facts import Facts
from geode_traj.release.check.registry import Hit, release_check


@release_check("RL1001", "copy the file itself into its place", geode=True)
def not_plain(facts: Facts) -> Iterator[Hit]:
    """Something else than a regular file or a folder stands in the release.

    A symbolic link, FIFO, socket or device can show each reader other bytes, or none. It is never opened.
    """
    for path, what in facts.tree.special.items():
        yield Hit(f"it is {what}", path)


@release_check("RL1002", "copy the release: every file gets a name of its own")
def hard_link(facts: Facts) -> Iterator[Hit]:
    """A file has a second name somewhere: whoever writes there changes the release."""
    for path, status in facts.tree.files.items():
        if status.st_nlink != 1:
            yield Hit(f"it has {status.st_nlink} names", path)


@release_check("RL1003", "names are lower-case ASCII: letters, digits, dot, underscore, hyphen")
def bad_name(facts: Facts) -> Iterator[Hit]:
    """A file or folder has a name that no release holds, or not in this place.

    Names are `[a-z0-9][a-z0-9._-]*`, apart from README.md, SHA256SUMS, the signatures and the release's own
    id below `data`. It is not opened. Hidden files, spaces, control characters and look-alikes all end here.
    """
    for path in facts.tree.misnamed:
        yield Hit("its name is none that may stand here", path)


@release_check("RL1004", "remove it")
def empty_folder(facts: Facts) -> Iterator[Hit]:
    """A folder is empty: no list of files covers it, so anybody could have put it there."""
    for path in facts.tree.empty:
        yield Hit("the folder is empty", path)


@release_check("RL1005", "no release needs this: look at where it came from", geode=True)
def too_large(facts: Facts) -> Iterator[Hit]:
    """The folder is deeper, fuller or larger than what is looked at; the walk ended there."""
    if facts.tree.excess:
        yield Hit(facts.tree.excess)


@release_check("RL1006", "keep one of them")
def twins(facts: Facts) -> Iterator[Hit]:
    """Two names differ only in case or in how Unicode writes them: on some systems they are one file."""
    first: dict[str, str] = {}
    for path in [*facts.tree.files, *facts.tree.folders]:
        folded = unicodedata.normalize("NFKC", path).casefold()
        if first.setdefault(folded, path) != path:
            yield Hit("another name differs from it only in case", path)


@release_check(
    "RL1007", "check permissions and that nothing writes to it", exit_code=EXIT_PARTIAL, geode=True
)
def unreadable(facts: Facts) -> Iterator[Hit]:
    """A file or folder could not be read as it stood: no permission, a disk error, or it changed meanwhile.

    Nothing can be said of a release of which a part was not seen.
    """
    for path, why in facts.tree.unreadable.items():
        yield Hit(why, path)
    for path, seen in facts.seen.items():
        if seen.fault is not None:
            yield Hit(seen.fault, path)


@release_check("RL1008", "copy the release again, whole")
def missing_part(facts: Facts) -> Iterator[Hit]:
    """A file that every release has is not there: README.md, release.json, SHA256SUMS, the manifest.

    Or, below `data`, reviews/review.json or disclosure.json.
    """
    listed = {path for _, path in facts.sums or []}
    parts = (layout.README, layout.RELEASE, layout.SUMS, layout.REVIEW_RECORD, layout.DISCLOSURE)
    for path in (*parts, facts.prefix + layout.MANIFEST):
        if not facts.tree.holds(path) and path not in listed:
            yield Hit("it is missing", path)
