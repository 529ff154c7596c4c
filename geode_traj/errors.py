"""The two kinds of failure, their codes, and what the process exits with.

`DataError`: the bytes are bad. `WorldError`: disk, lock, permission, usage. Both carry a stable code whose
row in `CODES` gives the exit code, a message template free of payload text, and a hint. Problems *found in*
data that can still be read are findings (`model.finding`), not exceptions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

EXIT_OK: Final = 0
EXIT_FINDINGS: Final = 1
EXIT_USAGE: Final = 2
EXIT_PARTIAL: Final = 3
EXIT_REFUSED: Final = 4
EXIT_NO_INPUT: Final = 5
EXIT_UNKNOWN_SIGNER: Final = 6
EXIT_INTEGRITY: Final = 10
EXIT_BUSY: Final = 11
EXIT_EXISTS: Final = 12
EXIT_INTERNAL: Final = 70
EXIT_INTERRUPTED: Final = 130

_PRECEDENCE: Final = (
    EXIT_INTERNAL,
    EXIT_INTERRUPTED,
    EXIT_BUSY,
    EXIT_EXISTS,
    EXIT_INTEGRITY,
    EXIT_REFUSED,
    EXIT_UNKNOWN_SIGNER,
    EXIT_PARTIAL,
    EXIT_FINDINGS,
    EXIT_NO_INPUT,
    EXIT_USAGE,
)


def worst_exit(codes: list[int]) -> int:
    """Return the exit code that wins where several hold (0 for none)."""
    return next((code for code in _PRECEDENCE if code in codes), EXIT_OK)


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """One row of the code table: exit code, message template (`str.format` names), hint."""

    exit_code: int
    template: str
    hint: str


CODES: Final[dict[str, ErrorCode]] = {
    # TE1xx: usage and configuration
    "TE101": ErrorCode(EXIT_USAGE, "{what} is not valid: {why}", "see --help for what is accepted"),
    "TE102": ErrorCode(EXIT_USAGE, "missing source: {path}", "name a file or folder that exists"),
    "TE103": ErrorCode(
        EXIT_USAGE, "the configuration file {path} is not valid: {why}", "correct or remove it"
    ),
    "TE104": ErrorCode(EXIT_NO_INPUT, "no input matched", "name files that exist, or a wider folder"),
    "TE105": ErrorCode(EXIT_USAGE, "unknown name {name}", "list the known names first"),
    "TE106": ErrorCode(EXIT_USAGE, "ssh-agent: {why}", "see what it holds with `ssh-add -l`"),
    "TE199": ErrorCode(
        EXIT_INTERNAL, "internal error: {why}", "this is a bug: report it with what is printed"
    ),
    # TE2xx: input bytes
    "TE201": ErrorCode(EXIT_PARTIAL, "cannot read {path}: {why}", "check that it exists and is readable"),
    "TE202": ErrorCode(EXIT_PARTIAL, "not JSON: {why}", "check that the file is complete"),
    "TE203": ErrorCode(
        EXIT_PARTIAL, "larger than the limit of {limit} bytes", "split it, or rewrite it line-framed"
    ),
    "TE204": ErrorCode(
        EXIT_PARTIAL, "nested deeper than {limit}", "no transcript needs this; check its origin"
    ),
    "TE205": ErrorCode(EXIT_PARTIAL, "no known format", "name one with --format, or see `formats`"),
    "TE206": ErrorCode(EXIT_PARTIAL, "matches several formats: {names}", "choose one with --format"),
    "TE207": ErrorCode(EXIT_PARTIAL, "changed while it was read", "run again when nothing writes to it"),
    "TE208": ErrorCode(EXIT_PARTIAL, "schema {name}: {why}", "see `schema NAME` for the shape"),
    "TE209": ErrorCode(EXIT_PARTIAL, "not valid UTF-8", "published files are UTF-8 only"),
    "TE210": ErrorCode(
        EXIT_PARTIAL, "a process that read the source died", "check the memory left, or give --jobs 1"
    ),
    # TE3xx: refused by a gate or a rule
    "TE301": ErrorCode(
        EXIT_REFUSED,
        "the same bytes are recorded under session {stored}, not {given}",
        "leave --session-id out, or give the recorded id",
    ),
    "TE302": ErrorCode(EXIT_REFUSED, "nothing to export: {what}", "check the id with `list`"),
    "TE303": ErrorCode(EXIT_REFUSED, "{what} is invalid: {why}", "run `verify` on it for every finding"),
    "TE304": ErrorCode(
        EXIT_REFUSED, "scope is not complete: {why}", "a release admits scope-complete files only"
    ),
    "TE305": ErrorCode(
        EXIT_REFUSED,
        "replay is not complete: {why}",
        "admit it with --allow-replay-incomplete, if the policy does",
    ),
    "TE306": ErrorCode(EXIT_REFUSED, "not reviewed: {why}", "run `review sign` first"),
    "TE307": ErrorCode(EXIT_REFUSED, "the review no longer holds: {why}", "review the changed bytes again"),
    "TE308": ErrorCode(EXIT_REFUSED, "the scan still finds {found}", "redact it; nothing is disguised"),
    "TE309": ErrorCode(EXIT_REFUSED, "artifact {name}: {why}", "give its bytes with --artifact REF=PATH"),
    "TE310": ErrorCode(
        EXIT_REFUSED, "not unique: {what}", "each trajectory and path stands once in a release"
    ),
    "TE311": ErrorCode(EXIT_REFUSED, "weak or malformed key: {why}", "make a new one with `keys new`"),
    "TE312": ErrorCode(EXIT_REFUSED, "not signed: {why}", "run `release sign` first"),
    "TE313": ErrorCode(EXIT_REFUSED, "derived ids: {why}", "leave --require-native-ids out to allow them"),
    "TE314": ErrorCode(EXIT_REFUSED, "{what} does not fit: {why}", "see the record contract's bounds"),
    "TE315": ErrorCode(
        EXIT_REFUSED, "session {session} has ended already", "`show` it; only a later start opens it again"
    ),
    "TE316": ErrorCode(
        EXIT_REFUSED, "not scanned: {why}", "`scan` names every place; what nobody looked at is not published"
    ),
    "TE317": ErrorCode(
        EXIT_REFUSED, "the review's policy is looser: {why}", "name it with --policy, or review again"
    ),
    "TE318": ErrorCode(
        EXIT_REFUSED, "the rules changed since the review: {why}", "review again with the rules of today"
    ),
    "TE319": ErrorCode(EXIT_REFUSED, "not decided: {why}", "see `review status`; decide with `review tty`"),
    # TE4xx: integrity
    "TE401": ErrorCode(
        EXIT_INTEGRITY, "{what} does not match: {why}", "the bytes changed since they were recorded"
    ),
    "TE402": ErrorCode(
        EXIT_INTEGRITY, "{path} is not a plain file here: {why}", "a release holds regular files only"
    ),
    "TE403": ErrorCode(EXIT_INTEGRITY, "malformed signature: {why}", "make it again with `release sign`"),
    "TE404": ErrorCode(
        EXIT_INTEGRITY, "the journal of decisions does not hold: {why}", "nothing that follows can be trusted"
    ),
    # TE5xx: the store
    "TE501": ErrorCode(
        EXIT_BUSY, "the store is busy or locked: {path}", "another writer is at work; try again"
    ),
    "TE502": ErrorCode(EXIT_REFUSED, "{component} has the newer version {version}", "update geode-traj"),
    "TE503": ErrorCode(
        EXIT_PARTIAL, "cannot open the store {path}: {why}", "check the path and its permissions"
    ),
    "TE504": ErrorCode(EXIT_PARTIAL, "no such session: {session}", "check the id with `list`"),
    "TE505": ErrorCode(
        EXIT_PARTIAL, "the store is damaged: {why}", "restore a backup, or `sqlite3 .recover` it"
    ),
    # TE6xx: output
    "TE601": ErrorCode(EXIT_EXISTS, "output exists: {path}", "name another, or allow it with --force"),
    "TE602": ErrorCode(EXIT_PARTIAL, "cannot write {path}: {why}", "check space and permissions"),
}


class TrajError(Exception):
    """Base of all errors this package raises on purpose: a code, its values, a place, a hint.

    `place` says where in the caller's terms (a file, `file:line`, a JSON pointer); values fill the template.
    """

    def __init__(self, code: str, *, place: str = "", **values: object) -> None:
        row = CODES[code]
        self.code = code
        self.place = place
        self.hint = row.hint
        self.exit_code = row.exit_code
        self.message = row.template.format(**values)
        self._values = values
        super().__init__(f"{place}: {self.message}" if place else self.message)

    def __reduce__(self) -> tuple[object, ...]:
        """Let an error cross from one process to another."""
        return _again, (type(self), self.code, self.place, self._values)


def _again(kind: type[TrajError], code: str, place: str, values: dict[str, object]) -> TrajError:
    return kind(code, place=place, **values)


class DataError(TrajError):
    """The data is bad: unreadable bytes, a false claim, a gate that refuses."""


class WorldError(TrajError):
    """The world is bad: a missing path, a lock, a full disk, wrong usage."""
