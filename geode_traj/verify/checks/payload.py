"""GT5xx, payload: what was cut, lost or left out (record contract §4), declared or not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jiter

from geode_traj.codec.pointer import Trail, of, shown
from geode_traj.contract.kinds import CALLS, RESULTS
from geode_traj.verify import payloads
from geode_traj.verify.facts import EventView, Facts
from geode_traj.verify.look import BASE64, BOUND, CUT, ISSUE, LENGTHS, TAIL
from geode_traj.verify.registry import Hit, event_check

_MAX_ARGUMENTS = 1 << 20


def _in_payload(event: EventView, trail: Trail) -> Any:
    return event.at(f"/payload{shown(trail)}")


@event_check("GT501", "note", "such a file cannot be replayed from its payloads alone", sign=ISSUE)
def payload_issue(facts: Facts, event: EventView) -> Iterator[Hit]:
    """A payload is marked as truncated, corrupt or omitted; each such event limits replay.

    The message tells which marker of record contract §4 it is, the pointer where the first of its kind
    stands: a whole payload, a text or items cut; what stands too deep; a type that is not stored; fields
    replaced by their digest; a secret, personal data or a time that is not there; a corrupt row.
    """
    if event.issue:
        for told, pointer in payloads.markers(event.payload).items():
            yield Hit(f"payload issue: {told}", event.at(f"/payload{pointer}"))


@event_check("GT502", "warning", "the store was changed behind its back, or damaged", since="2", sign=ISSUE)
def hash_mismatch(facts: Facts, event: EventView) -> Iterator[Hit]:
    """The stored payload did not match its hash when it was exported.

    Its marker says so (`_corrupt_reason`). An exported payload carries fields of its row, so that its own
    bytes are not what `source_payload_hash` is of.
    """
    payload = event.payload
    if "_corrupt_payload" in payload and payload.get("_corrupt_reason") == "payload_hash_mismatch":
        yield Hit("the stored payload did not match its hash", event.place)


@event_check(
    "GT503", "warning", "the tool cut it before it was recorded; no marker says so", since="2", sign=CUT
)
def cut_by_tool(facts: Facts, event: EventView) -> Iterator[Hit]:
    """A text ends in the mark that a known tool leaves where it cuts, and no marker declares it.

    In results, marks of a middle that was taken out count too. Confidence is high: such words seldom end a
    text by chance, but a text may quote them.
    """
    inside = event.kind in RESULTS
    for trail, text in payloads.texts(event.payload):
        told = payloads.cut_mark(text, inside=inside)
        if told is not None:
            yield Hit(f"undeclared cut (confidence high): a text {told}", _in_payload(event, trail))


@event_check("GT504", "warning", "what the tool was given is not known in full", since="2", kinds=CALLS)
def arguments_cut(facts: Facts, event: EventView) -> Iterator[Hit]:
    """A call's arguments are JSON that breaks off in its middle.

    They are kept as text (`_legacy_fragment`). Text that is no JSON for another reason is not meant.
    """
    given = event.payload.get("arguments")
    trail: Trail = (None, "arguments")
    for key in ("_legacy_fragment", "_value"):
        if isinstance(given, dict) and given.keys() == {key}:
            given, trail = given[key], (trail, key)
    if isinstance(given, str) and given.lstrip()[:1] in ("{", "[") and _breaks_off(given):
        told = f"undeclared cut (confidence high): arguments break off after {len(given)} character(s)"
        yield Hit(told, _in_payload(event, trail))


def _breaks_off(text: str) -> bool:
    try:
        jiter.from_json(text[:_MAX_ARGUMENTS].encode("utf-8", "surrogatepass"))
    except ValueError as error:
        return str(error).startswith("EOF while parsing") and len(text) <= _MAX_ARGUMENTS
    return False


@event_check("GT505", "note", "compare with the source, if it is still there", since="2", sign=BOUND)
def exactly_at_bound(facts: Facts, event: EventView) -> Iterator[Hit]:
    """A text is exactly as long as some writer allows, breaks off within a word, and no marker says so.

    The lengths are those at which agents and recorders cut, from 10,000 to 262,144 characters. Confidence is
    low: it may be so long by chance.
    """
    for trail, text in payloads.texts(event.payload):
        if len(text) in LENGTHS and payloads.ends_within_word(text):
            told = f"a text has exactly {len(text)} characters and breaks off within a word"
            yield Hit(f"undeclared cut (confidence low): {told}", _in_payload(event, trail))


@event_check("GT506", "note", "compare with the source, if it is still there", since="2", sign=BASE64)
def half_base64(facts: Facts, event: EventView) -> Iterator[Hit]:
    """A base64 text cannot be whole: by its length, or for want of its padding.

    Looked at are data URIs, and `data` beside a member that says base64. Confidence is medium.
    """
    for trail, item in payloads.walk(event.payload):
        told, at = None, trail
        if isinstance(item, str):
            told = payloads.half_base64(item, is_data=False)
        elif isinstance(item, dict) and "base64" in item.values() and isinstance(item.get("data"), str):
            told, at = payloads.half_base64(item["data"], is_data=True), (trail, "data")
        if told is not None:
            yield Hit(f"undeclared cut (confidence medium): {told}", _in_payload(event, at))


@event_check("GT507", "note", "compare with the source, if it is still there", since="2", sign=TAIL)
def half_character(facts: Facts, event: EventView) -> Iterator[Hit]:
    """A text ends in half a character, as a cut by bytes leaves it. Confidence is medium.

    Half of a surrogate pair counts only where `_escaped` says that it stands for one.
    """
    listed = event.payload.get("_escaped")
    escaped = {one for one in listed if isinstance(one, str)} if isinstance(listed, list) else set()
    for trail, text in payloads.texts(event.payload):
        told = payloads.half_character(text)
        if told is not None and (text[-1] == "\ufffd" or of(trail) in escaped):
            yield Hit(f"undeclared cut (confidence medium): a text {told}", _in_payload(event, trail))
