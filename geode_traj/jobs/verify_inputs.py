"""Verifying whatever a path holds, told by its content: a trajectory here, all else in `jobs.verify_others`.

Most of what is verified are trajectories, so that nothing is loaded for other inputs until one comes.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, cast

from geode_traj.codec.files import CHUNK, is_folder, reading
from geode_traj.codec.framed import is_framed
from geode_traj.contract.plan import Plan
from geode_traj.errors import TrajError
from geode_traj.model.finding import Finding, Place
from geode_traj.verify import Verified, verify_path, verify_stream
from geode_traj.verify.engine import unreadable

if TYPE_CHECKING:
    from geode_traj.jobs.found import Watch

HEAD: Final = 1 << 18
TAIL: Final = 1 << 16
_SPOOLED: Final = 8 << 20
_NAMED: Final = re.compile(rb'"schema_id"\s*:\s*"geode\.trajectory@')
_SECOND_OBJECT: Final = re.compile(rb"\}\s*\n\s*\{")


def verify_input(
    path: Path,
    watch: Watch | None = None,
    trajectory: Callable[[Path], Verified] = verify_path,
    plan: Plan | None = None,
) -> Iterator[Verified]:
    """Verify a file, or a folder that is one transcript as a whole; yield a result for each session of it.

    `trajectory` verifies what is one; `watch` sees the documents that sessions of other inputs are exported
    as. What ran is reconciled with `plan`. Never raises for bad data.
    """
    if plan is not None:
        from geode_traj.jobs.plans import Beside

        watch, trajectory = Beside(plan, watch), partial(verify_path, plan=plan)
    try:
        if not is_folder(path):
            with reading(path) as stream:
                if _is_trajectory(*_ends(stream)):
                    yield trajectory(path)
                    return
        from geode_traj.jobs.verify_others import by_content

        yield from by_content(path, watch, trajectory)
    except TrajError as error:
        yield unreadable(str(path), error)


def verify_incoming(incoming: BinaryIO, name: str = "-", plan: Plan | None = None) -> Iterator[Verified]:
    """Verify what comes in once; it is kept on disk beyond a few MB, since it is read twice."""
    import tempfile

    digest = hashlib.sha256()
    size = 0
    with tempfile.SpooledTemporaryFile(max_size=_SPOOLED) as copy:
        while chunk := incoming.read(CHUNK):
            digest.update(chunk)
            size += copy.write(chunk)
        stream = cast(BinaryIO, copy)
        if _is_trajectory(*_ends(stream)):
            stream.seek(0)
            yield verify_stream(stream, name=name, sha256=digest.hexdigest(), size=size, plan=plan)
            return
        with tempfile.TemporaryDirectory(prefix="geode-traj-") as folder:  # its owner's alone
            file = Path(folder, "stdin")
            copy.seek(0)
            with file.open("wb") as out:
                while chunk := copy.read(CHUNK):
                    out.write(chunk)
            for result in verify_input(file, plan=plan):
                yield _renamed(result, str(file), name)


def _ends(stream: BinaryIO) -> tuple[bytes, bytes]:
    """Return the first and the last bytes of a stream."""
    stream.seek(0)
    head = stream.read(HEAD)
    stream.seek(max(0, stream.seek(0, os.SEEK_END) - TAIL))
    return head, stream.read(TAIL)


def _is_trajectory(head: bytes, tail: bytes) -> bool:
    """Tell whether a file is one JSON object that names the schema, or lies as only trajectories do.

    An empty one is taken for a trajectory that was never written.
    """
    begun = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not begun.startswith(b"{"):
        return not begun and not tail.strip()
    first = begun.split(b"\n", 1)[0].rstrip()
    if first.endswith(b"}") and _SECOND_OBJECT.search(begun):
        return False  # JSON lines
    return is_framed(first) or bool(_NAMED.search(head) or _NAMED.search(tail))


def _renamed(result: Verified, path: str, name: str) -> Verified:
    """Return the result of a temporary copy under the name of what it copies."""

    def there(place: Place) -> Place:
        return replace(place, file=name if place.file == path else place.file)

    def told(finding: Finding) -> Finding:
        return replace(finding, place=there(finding.place), related=tuple(map(there, finding.related)))

    ending = result.name.removeprefix(path)
    return replace(result, name=f"{name}{ending}", findings=tuple(map(told, result.findings)))
