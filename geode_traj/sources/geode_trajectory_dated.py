"""Published GEODE trajectories of a dated schema, normalised in memory (record contract §7)."""

from __future__ import annotations

from typing import Any, BinaryIO

from geode_traj.codec.framed import Document
from geode_traj.contract import dated
from geode_traj.errors import DataError
from geode_traj.sources.base import Probe
from geode_traj.sources.geode_trajectory import GeodeTrajectory, one_object


class GeodeTrajectoryDated(GeodeTrajectory):
    """One dated trajectory file; imported as the `geode.trajectory@1` document that it is read as."""

    name = "geode-trajectory-dated"
    reads = "geode.trajectory@YYYY-MM-DD files, read as geode.trajectory@1"
    gives_not = ("replay completeness", "typed references")

    def detect(self, probe: Probe) -> bool:
        """Match one JSON object that names a dated schema at its head or its tail."""
        return one_object(probe) and dated.names_dated(probe.head, probe.tail)

    def document(self, stream: BinaryIO, place: str, size: int) -> Document:
        """Read the file whole, normalised."""
        document, schema_id = dated.read(stream, place=place, size=size)
        if not schema_id:
            raise DataError(
                "TE208", name="geode.trajectory@YYYY-MM-DD", why="no dated schema_id", place=place
            )
        return document

    def fits(self, head: dict[str, Any]) -> bool:
        """Take every head: normalised, it fits but for what its events' ids make of it."""
        return True


SOURCE = GeodeTrajectoryDated()
