"""GT1xx, form: can it be read, does it fit its schema, how is it written."""

from __future__ import annotations

from collections.abc import Iterator

from geode_traj.codec.pointer import shown
from geode_traj.verify.facts import EventView, Facts
from geode_traj.verify.look import BIG, NUL
from geode_traj.verify.payloads import walk
from geode_traj.verify.registry import Hit, engine_check, event_check

_HIGHEST = (1 << 64) - 1
_LOWEST = -(1 << 63)


@engine_check("GT101", "error")
def unreadable() -> None:
    """The bytes are not JSON, or not a trajectory.

    A file cut short, or one of another kind, cannot be judged. Flaws that can be read over have checks of
    their own (GT104 to GT113).
    """


@engine_check("GT102", "error", "see `schema geode.trajectory@1`")
def schema_violation() -> None:
    """A value does not fit the schema geode.trajectory@1.

    The finding names the JSON pointer and what is expected there. The event is left out of all counts.
    """


@engine_check("GT103", "error", "see `schema`")
def unknown_schema() -> None:
    """The file's `schema_id` is not one this program knows.

    Nothing else of the head is judged then.
    """


@engine_check("GT104", "error", "write each key once; which of the values was meant?", since="2")
def repeated_key() -> None:
    """An object has a key twice.

    One reader keeps the first value, another the last: a signature and a viewer may see two different files.
    Here the last one is judged.
    """


@engine_check("GT105", "error", "write null, or the text nan, inf, -inf", since="2")
def not_finite() -> None:
    """A number is NaN or an infinity, or too large for a float (1e999).

    JSON has no such numbers, and many readers refuse the file for one. Here it is judged as a text.
    """


@event_check("GT106", "warning", "write such an id as a text", since="2", sign=BIG)
def big_integer(facts: Facts, event: EventView) -> Iterator[Hit]:
    """An integer needs more than 64 bits.

    It is JSON and is read exactly here, but many readers round it without a word. Told where an event holds
    one, below -2^63 or above 2^64 - 1.
    """
    for trail, item in walk(event.value):
        if type(item) is int and not _LOWEST <= item <= _HIGHEST:
            yield Hit("an integer needs more than 64 bits", event.at(shown(trail)))


@engine_check(
    "GT107", "error", "write the six characters of the escape, and list them in `_escaped`", since="2"
)
def lone_surrogate() -> None:
    r"""A text holds half of a surrogate pair, such as the escape \ud83d without its other half.

    It is no Unicode text: it can be neither stored nor written as UTF-8. Here the six characters of its
    escape are judged in its place.
    """


@engine_check("GT108", "error", "published files are UTF-8 only", since="2")
def not_utf8() -> None:
    r"""Bytes are not UTF-8, the only encoding that JSON may have.

    Here each such byte is judged as the four characters `\xNN`.
    """


@engine_check("GT109", "error", "write the file without it", since="2")
def byte_order_mark() -> None:
    """The file begins with a byte order mark, which no JSON text may have and many readers refuse."""


@engine_check("GT110", "error", "a power cut or a full disk leaves such bytes: restore the file", since="2")
def nul_bytes() -> None:
    """The file holds NUL bytes, inside an event or after the end.

    They are never part of JSON. An event whose line holds one is lost; what stands around it is judged.
    """


@engine_check("GT111", "error", "no transcript needs this; check its origin", since="2")
def too_deep() -> None:
    """A value is nested deeper than 200.

    Readers that follow any depth can be made to crash. In a line-framed file only that event is lost.
    """


@engine_check("GT112", "error", "split it, or rewrite it line-framed with `fmt`", since="2")
def too_large() -> None:
    """A line, or a file that is not line-framed, is larger than 64 MiB.

    It would have to be read as one value, which takes many times its size in memory.
    """


@engine_check("GT113", "error", "restore the line from its source", since="2")
def damaged_line() -> None:
    """A line of a line-framed file is no JSON, or the comma between two of them is wrong.

    The event on it is lost, and with it the counts that the file claims; the other events are judged.
    """


@event_check("GT114", "note", "some databases and most C programs end a text there", since="2", sign=NUL)
def nul_character(facts: Facts, event: EventView) -> Iterator[Hit]:
    """A text holds the character U+0000, written as an escape."""
    for trail, item in walk(event.value):
        if (isinstance(item, str) and "\0" in item) or (
            isinstance(item, dict) and any("\0" in key for key in item)
        ):
            yield Hit("a text or key holds U+0000", event.at(shown(trail)))
            return


@engine_check("GT115", "note", "`fmt` rewrites it; the values stay the same", since="2")
def not_canonical() -> None:
    """The file is not written canonically: line-framed, keys sorted, no byte more than needed.

    Any layout may be read. Only this one is equal where trajectories are equal, and is read with one event in
    memory. The finding names the first event that differs. A dated trajectory is never rewritten, and not
    asked for this.
    """
