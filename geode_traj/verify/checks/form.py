"""GT1xx, form: can it be read, does it fit its schema."""

from __future__ import annotations

from collections.abc import Iterator

from geode_traj.verify.facts import Facts
from geode_traj.verify.registry import Hit, file_check


@file_check("GT101", "error")
def unreadable(facts: Facts) -> Iterator[Hit]:
    """The bytes are not strict JSON, or not a trajectory.

    Repeated keys, NaN, infinities, lone surrogates, bytes that are not UTF-8, nesting beyond 200 and files
    cut short cannot be judged: two readers would see two different files. The engine reports this one; a file
    that was read to its end has none.
    """
    return iter(())


@file_check("GT102", "error")
def schema_violation(facts: Facts) -> Iterator[Hit]:
    """A value does not fit the schema geode.trajectory@1.

    The finding names the JSON pointer and what is expected there. Reported by the engine while it reads.
    """
    return iter(())


@file_check("GT103", "error")
def unknown_schema(facts: Facts) -> Iterator[Hit]:
    """The file's `schema_id` is not one this program knows.

    Reported by the engine once the head was read; nothing else of the head is judged then.
    """
    return iter(())
