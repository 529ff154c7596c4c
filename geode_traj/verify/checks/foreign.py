"""GT15x to GT18x, other inputs than trajectories: what their readers tell, and the records' own claims.

Reported by whoever reads them; here are their pages.
"""

from __future__ import annotations

from geode_traj.verify.registry import engine_check


@engine_check("GT150", "note", since="2")
def foreign_format() -> None:
    """The input is no trajectory: it was read as another format, as if it had been imported.

    Every other finding is about what an export would hold after that import; nothing was stored.
    """


@engine_check("GT151", "warning", "see `migrate`: it keeps such lines beside the events", since="2")
def damaged_record() -> None:
    """A line, or a record, of the input cannot be read: the scope is incomplete.

    The message gives the reason: torn_tail for a last line that was never written to its end, not_json,
    not_object, nul_block, too_deep, line_too_long, or what a format names itself.
    """


@engine_check("GT152", "note", since="2")
def lost_at_the_source() -> None:
    """The input itself lost something, or cannot give it; the message names what, and how often."""


@engine_check("GT153", "note", since="2")
def skipped_records() -> None:
    """Records were counted, but hold no event: blank lines, and lines that another program wrote."""


@engine_check("GT154", "note", since="2")
def unknown_records() -> None:
    """Records are of a kind that the format's reader does not know: an import keeps them whole."""


@engine_check("GT155", "note", "verify its folder with `release check`", since="2")
def manifest_alone() -> None:
    """The input is the manifest of a release: the files that it lists were not looked at.

    What holds for the manifest by itself was checked by the rules of releases (RL12xx).
    """


@engine_check("GT156", "warning", "whoever wrote it wrote no strict JSON", since="2")
def mended() -> None:
    """A record held what JSON cannot hold, or holds twice, and was mended while reading.

    That is: text that is no Unicode (kept as its escapes), a number that is none (kept as nan, inf or -inf),
    a key that is repeated (the last value counts; the earlier ones are kept beside).
    """


@engine_check("GT160", "error", "write records as the contract shapes them", since="2")
def record_shape() -> None:
    """A GEODE record does not have its shape: a member is missing, of a wrong type or out of its range.

    Records are run events, hook events, and those of the usage and evidence ledgers (record contract §9 to
    §12).
    """


@engine_check("GT161", "warning", "whoever wrote it should have left it out", since="2")
def never_kept() -> None:
    """A record holds a value that its store never keeps, or only masked: text, prompts, credentials."""


@engine_check("GT162", "warning", "cut it, with a marker", since="2")
def over_bound() -> None:
    """A value of a record is past the bound of its store."""


@engine_check("GT163", "warning", "one of the two is wrong", since="2")
def contradiction() -> None:
    """Two members of a record contradict each other."""


@engine_check("GT164", "warning", "the whole history is in the session store", since="2")
def compacted() -> None:
    """The timeline was compacted: its oldest rows are gone, and the marker row says how many."""


@engine_check("GT165", "note", "file order is the order", since="2")
def record_order() -> None:
    """A record's number is not above the one before it: its writer began to count again, or wrote twice."""


@engine_check("GT166", "warning", "only the first of them is imported under its id", since="2")
def record_id_repeated() -> None:
    """Two records have the same id."""


@engine_check("GT180", "warning", "see the format's own validator", since="2")
def atif_shape() -> None:
    """An ATIF trajectory does not fit its format: a member is missing, of a wrong type or out of place."""


@engine_check("GT181", "warning", "number the steps 1, 2, 3, … in order", since="2")
def atif_step_ids() -> None:
    """The step ids of an ATIF trajectory are not 1 to n."""


@engine_check("GT182", "warning", "name what is in the file, or a path", since="2")
def atif_references() -> None:
    """An ATIF result refers to no call of its step, or to a trajectory that is not there."""


@engine_check("GT183", "warning", "give every call an id of its own", since="2")
def atif_call_ids() -> None:
    """Calls of one ATIF step share an id, or two results answer one call."""


@engine_check("GT184", "warning", "leave a total out rather than guess it", since="2")
def atif_totals() -> None:
    """`final_metrics` does not hold the sums over the steps.

    Copied steps and embedded trajectories may be in a sum or not, as writers do either. Where some step
    reports nothing, a larger total is no fault; a smaller one is.
    """


@engine_check("GT550", "error", "the payload was changed after it was written", since="2")
def stored_hash() -> None:
    """A stored payload does not match its hash: a row of a store, a hook event or an evidence record.

    Readers take such a payload for corrupt.
    """
