"""From a private trajectory to a published one: nothing computed from a private value stays guessable.

Redacting a value is not enough while something computed from it stands beside the placeholder. An event id
is a UUID over the digest of the source line, a payload hash covers the payload as it was: whoever holds the
rest of the text can try every telephone number against them. So what the record contract computes from
private bytes is made again under a private key, each use of the key in a domain of its own:

- event ids, wherever they stand, unless the event's source is `runtime` (those are random). An id keeps its
  shape and length, so that positions in the text around it hold. A parent's id goes the way of the event it
  names; one that no event has is mapped unless the event that names it comes from `runtime`.
- a session, turn, call or other id that must not be shown, since something private was found in it or a
  policy asks for it: keyed hex digits in its place wherever a whole text is that id, and in the texts that an
  export makes of it. One that is a UUID or a digest keeps its shape, and is replaced inside other texts too.
- `payload_hash`, `candidate_sha256`, `_omitted_payload_sha256`, `source_digest` and a displaced
  `source_payload_hash`, at any depth, become 64 keyed hex digits; so does the digest of a
  `hook-events-sha256:` reference, with the `sha256` beside it. Equal digests stay equal: links between
  events hold.
- the digest that ends an id or another column cut to its bound (record contract §3), wherever that text
  stands, in an event, in the head or inside a text; and the one that names a reference without a name (§7).
- `source_payload_hash` itself becomes an honest digest of the published payload: see `seal`.

Gone are `_blobs`, all of `_legacy` but event and line_number, and the sizes of bodies that are not there:
`original_bytes` of a truncated payload, `candidate_bytes`, `_omitted_payload_bytes`, the `size` of an
omitted type. The contract asks only for a marker's name, and unknown is not zero, so they are dropped, not
zeroed. The numbers that say how much of a published text or list was cut (`…[truncated:N]`,
`_truncated_items`) stay: they are no length of a redacted value. Digests of evidence files stay too, since
a release compares them with the files' bytes.

A policy may keep all of these digests as they are, `plain`: then whoever guesses what they were made of knows
that the guess is right. What must not be shown is mapped, and what is gone is gone, all the same.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from typing import Any, Final

from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import sha256_bytes
from geode_traj.contract.ids import COLUMN_BOUNDS, MAX_SESSION_ID, MAX_SOURCE
from geode_traj.contract.kinds import KINDS, OVERLAID, TURN_SCOPED
from geode_traj.errors import DataError

KEY_BYTES: Final = 32
RUNTIME: Final = "runtime"
MIN_SHIFT: Final = 30 * 86_400
MAX_SHIFT: Final = 400 * 86_400
"""Seconds by which the times of a release may move."""
HOOK_REFERENCE: Final = "hook-events-sha256:"

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_DIGEST_KEYS: Final = frozenset(
    "payload_hash candidate_sha256 _omitted_payload_sha256 source_digest source_payload_hash".split()
)
# A key whose value is the size of a body that is not there -> the marker it then stands beside.
_SIZES: Final = {
    "original_bytes": "_truncated",
    "size": "_omitted_type",
    "candidate_bytes": "candidate_sha256",
    "_omitted_payload_bytes": "_omitted_payload_sha256",
}
_LEGACY_KEPT: Final = ("event", "line_number")
_TURN_BOUND: Final = COLUMN_BOUNDS["turn_id"]
_CUT_BOUNDS: Final = {
    **COLUMN_BOUNDS,
    "session_id": MAX_SESSION_ID,
    "source": MAX_SOURCE,
    "actor": COLUMN_BOUNDS["role"],
    "root_turn_id": _TURN_BOUND,
    "_native_turn_id": _TURN_BOUND,
}
_CUT: Final = re.compile(r":([0-9a-f]{16})")
_CUT_TAIL: Final = 17
_WORDS: Final = KINDS | TURN_SCOPED
_UUID: Final = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_IS_UUID: Final = re.compile(_UUID)
_IS_HEX: Final = re.compile(r"[0-9a-f]{32,64}")
# Event ids that are a whole text, and those of digest shape inside one; shorter ones tell nothing.
_MIN_ID: Final = 16
_IN_TEXT: Final = re.compile(
    rf"(?<![0-9A-Za-z])(?:{_UUID}|(?:{HOOK_REFERENCE})?[0-9a-f]{{32,64}})(?![0-9A-Za-z])"
)
_LEGACY_REFERENCE: Final = re.compile(r"(legacy-[0-9]{1,9}-)([0-9a-f]{16})")
# The texts that an export makes of a session's id.
_OF_SESSION: Final = re.compile(
    r"(geode-session-|session )(.+?)"
    r"( has no canonical events| has no terminal event| reports canonical write failures)?",
    re.DOTALL,
)


class Ids:
    """What a publication does with ids; one entry an event. It must have seen all before one is mapped."""

    def __init__(self) -> None:
        self._mapped: dict[str, bool] = {}
        self._hidden: set[str] = set()
        self._cut: set[str] = set()
        self._cut_lengths: tuple[int, ...] = ()

    def see(self, event: dict[str, Any]) -> None:
        """Note an exported event's id and source, and what of it was cut."""
        self._mapped[event["event_id"]] = event["payload"].get("source") != RUNTIME
        for name in _CUT_BOUNDS:
            self.column(name, event.get(name))
            self.column(name, event["payload"].get(name))

    def column(self, name: str, value: object) -> None:
        """Note the value of a column, if it was cut to its bound: then a digest ends it."""
        if (
            isinstance(value, str)
            and len(value) == _CUT_BOUNDS[name]
            and _CUT.match(value, len(value) - _CUT_TAIL)
        ):
            self._cut.add(value)
            self._cut_lengths = tuple(sorted({*self._cut_lengths, len(value)}))

    def hide(self, identifier: str) -> None:
        """Note an id that must not be shown."""
        self._hidden.add(identifier)

    def maps(self, event_id: str, *, unseen: bool = False) -> bool:
        """Tell whether an event id is mapped; `unseen` is the answer for an id that no event has."""
        return self._mapped.get(event_id, unseen)

    def cut_at(self, text: str, end: int) -> bool:
        """Tell whether what was cut stands in a text, its digest ending at `end`."""
        return any(text[max(end - length, 0) : end] in self._cut for length in self._cut_lengths)

    def hides(self, identifier: str) -> bool:
        """Tell whether an id must not be shown."""
        return identifier in self._hidden


class Publication:
    """The publication transforms under one private key; pure: values in, new values out, keys sorted.

    `plain`: the digests of private bytes stay as they are, event ids among them. Raises `DataError` TE311 for
    a key of fewer than `KEY_BYTES`.
    """

    def __init__(self, key: bytes, ids: Ids, *, plain: bool = False) -> None:
        if len(key) < KEY_BYTES:
            raise DataError("TE311", why=f"it has fewer than {KEY_BYTES} bytes")
        # A key of its own, so that nothing published meets what else the store's key is used for.
        self._key: Final = hmac.digest(key, b"geode-traj publication 1", hashlib.sha256)
        self._ids: Final = ids
        self._plain: Final = plain

    def event(self, event: dict[str, Any]) -> dict[str, Any]:
        """Return an exported event as published; its payload still needs `seal`, after all other changes."""
        out: dict[str, Any] = {}
        for name, value in event.items():
            fixed = name == "occurred_at" or (name == "kind" and value in _WORDS)
            out[name] = self._text(value) if isinstance(value, str) and not fixed else value
        if self._maps(event["event_id"], unseen=True):
            out["event_id"] = self.event_id(event["event_id"])
        out["payload"] = self._payload(event["payload"])
        return out

    def head(self, head: dict[str, Any]) -> dict[str, Any]:
        """Return what stands around the events, or some members of it, as published."""
        return self._object(head)

    def event_id(self, event_id: str) -> str:
        """Return the id that stands for `event_id`: a UUID for a UUID, hex digits for hex digits, else 32."""
        return _shaped(self._mac("event_id", event_id), event_id)

    def identifier(self, text: str) -> str:
        """Return what stands, shaped like an event id, for a session or other id which may not be shown."""
        return _shaped(self._mac("identifier", text), text)

    def digest(self, digest: str) -> str:
        """Return the 64 hex digits that stand for a digest of private bytes."""
        return digest if self._plain else self._mac("digest", digest)

    def shift(self) -> int:
        """Return by how many seconds the times of everything published under this key move back."""
        return MIN_SHIFT + int(self._mac("shift", ""), 16) % (MAX_SHIFT - MIN_SHIFT)

    def salt(self, data: bytes) -> str:
        """Return 64 hex digits that make a digest over `data` and them tell nothing of `data`."""
        return self._mac("salt", sha256_bytes(data))

    def _mac(self, use: str, text: str) -> str:
        message = use.encode() + b"\0" + text.encode("utf-8", "surrogatepass")
        return hmac.digest(self._key, message, hashlib.sha256).hex()

    def _maps(self, event_id: str, *, unseen: bool = False) -> bool:
        return not self._plain and self._ids.maps(event_id, unseen=unseen)

    def _payload(self, payload: dict[str, Any]) -> dict[str, Any]:
        out = self._object({key: value for key, value in payload.items() if key != "_blobs"})
        legacy = out.get("_legacy")
        if isinstance(legacy, dict):
            out["_legacy"] = {key: legacy[key] for key in _LEGACY_KEPT if key in legacy}
        source = payload.get("source")
        for given, holder in ((payload, out), (payload.get("_displaced"), out.get("_displaced"))):
            if isinstance(given, dict) and isinstance(holder, dict):
                parent = given.get("parent_event_id")
                if isinstance(parent, str) and self._maps(parent, unseen=source != RUNTIME):
                    holder["parent_event_id"] = self.event_id(parent)
        return out

    def _object(self, value: dict[str, Any]) -> dict[str, Any]:
        reference = value.get("reference")
        hooks = isinstance(reference, str) and reference.startswith(HOOK_REFERENCE)
        out: dict[str, Any] = {}
        for key, item in sorted(value.items()):
            if key in _SIZES and _SIZES[key] in value:
                continue
            is_digest = key in _DIGEST_KEYS or (hooks and key == "sha256")
            if is_digest and isinstance(item, str) and _DIGEST.fullmatch(item):
                out[key] = self.digest(item)
            elif (
                key == "reference" and isinstance(item, str) and (found := _LEGACY_REFERENCE.fullmatch(item))
            ):
                out[key] = found[1] + self._short(found[2])
            else:
                out[self._inside(key)] = self._value(item)
        return out

    def _value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return [self._value(item) for item in value]
        return self._object(value) if isinstance(value, dict) else value

    def _text(self, text: str) -> str:
        hidden = self._ids.hides(text)
        if (hidden or len(text) >= _MIN_ID) and self._maps(text):
            return self.event_id(text)
        if hidden:
            return self.identifier(text)
        named = _OF_SESSION.fullmatch(text)
        if named and self._ids.hides(named[2]):
            return named[1] + self.identifier(named[2]) + (named[3] or "")
        return self._inside(text)

    def _inside(self, text: str) -> str:
        """Return a text with the ids in it mapped. All that is done to a key: a word is no id there."""
        return _IN_TEXT.sub(self._token, _CUT.sub(self._cut, text))

    def _token(self, found: re.Match[str]) -> str:
        token = found[0]
        if token.startswith(HOOK_REFERENCE):
            return HOOK_REFERENCE + self.digest(token.removeprefix(HOOK_REFERENCE))
        if self._maps(token):
            return self.event_id(token)
        return self.identifier(token) if self._ids.hides(token) else token

    def _cut(self, found: re.Match[str]) -> str:
        if not self._ids.cut_at(found.string, found.end()):
            return found[0]
        return ":" + self._short(found[1])

    def _short(self, digest: str) -> str:
        return digest if self._plain else self._mac("cut", digest)[:16]


def _shaped(mac: str, like: str) -> str:
    """Return keyed hex digits as a UUID for a UUID, as many as there were for hex digits, else 32."""
    if _IS_UUID.fullmatch(like):
        variant = "89ab"[int(mac[16], 16) & 3]
        return f"{mac[:8]}-{mac[8:12]}-8{mac[13:16]}-{variant}{mac[17:20]}-{mac[20:32]}"
    return mac[: len(like)] if _IS_HEX.fullmatch(like) else mac[:32]


def seal(payload: dict[str, Any]) -> None:
    """Set `source_payload_hash`, where there is one, to the SHA-256 of the payload less the overlaid keys."""
    if "source_payload_hash" in payload:
        stored = {key: value for key, value in payload.items() if key not in OVERLAID}
        payload["source_payload_hash"] = sha256_bytes(dumps(stored))
