"""The verifier: trajectory bytes in, findings and recomputed claims out; pure, and alone in its room.

    from geode_traj.verify import verify_bytes, verify_path

Nothing a producer says is believed: quality and completeness are counted again (record contract §6).
"""

from geode_traj.verify.engine import verify_bytes, verify_document, verify_path, verify_stream
from geode_traj.verify.result import Verified

__all__ = ["Verified", "verify_bytes", "verify_document", "verify_path", "verify_stream"]
