"""The reviewer's signed statement (release.md §2): it says what the sign-off says, and by whom it was signed.

Who signed cannot be told without keys. What is held here is that the statement is that of this sign-off, and
later, that whoever signs the release as its reviewer is who signed it.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from geode_traj.attest import dsse, statement
from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import read_bounded
from geode_traj.contract import review_folder
from geode_traj.errors import DataError
from geode_traj.release import layout

MAX_BYTES: Final = dsse.MAX_BYTES


def require_same(data: bytes, signoff: Mapping[str, Any], signoff_sha256: str) -> None:
    """Raise `DataError` TE307 for an envelope that is not, byte for byte, about this sign-off."""
    name = review_folder.DSSE
    subjects, predicate = review_folder.stated(signoff, signoff_sha256)
    try:
        envelope = dsse.read(data, statement.PAYLOAD_TYPE)
        same = envelope.payload == statement.make(subjects, statement.PRIVACY_REVIEW, predicate)
    except DataError as error:
        raise DataError("TE307", place=name, why=f"{name} is a {error.message}") from None
    if not same or data != _written(envelope):
        raise DataError("TE307", place=name, why=f"{name} is not the statement of this sign-off")


def _written(envelope: dsse.Envelope) -> bytes:
    """Return the one way in which an envelope is written: what is published holds nothing else."""
    signatures = [
        {"keyid": each.keyid, "sig": base64.b64encode(each.raw).decode()} for each in envelope.signatures
    ]
    payload = base64.b64encode(envelope.payload).decode()
    return dumps({"payload": payload, "payloadType": envelope.payload_type, "signatures": signatures})


def require_signed(folder: Path, public_key: bytes) -> None:
    """Raise `DataError` TE312 where a release holds a review statement that this key did not sign."""
    path = folder / layout.REVIEW_STATEMENT
    if not os.path.lexists(path):
        return
    envelope = dsse.read(read_bounded(path, MAX_BYTES), statement.PAYLOAD_TYPE, place=path.name)
    if not envelope.verified_by((public_key,)):
        raise DataError("TE312", place=path.name, why="the review was signed off with another key")
