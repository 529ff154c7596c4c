"""The verifier: trajectory bytes in, findings and recomputed claims out; pure, and alone in its room.

    from geode_traj.verify import verify

    result = verify(data)  # or events as they come, and all else: verify(events, head)
    result.verdict, result.findings

Nothing a producer says is believed: quality and completeness are counted again (record contract §6).
"""

from geode_traj.verify.engine import verify_bytes, verify_document, verify_path, verify_stream
from geode_traj.verify.given import verify
from geode_traj.verify.result import Verified

__all__ = ["Verified", "verify", "verify_bytes", "verify_document", "verify_path", "verify_stream"]
