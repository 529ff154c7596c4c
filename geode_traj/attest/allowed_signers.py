"""Whom a key belongs to: OpenSSH allowed_signers files (ssh-keygen(1), ALLOWED SIGNERS), read strictly.

A malformed line is an error: a trust file with a typing mistake must not pass as a smaller one. A well-formed
line of a kind that is not supported here is left out with a finding; leaving out never trusts more.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from geode_traj.attest import keyfile
from geode_traj.attest.patterns import listed
from geode_traj.codec import files
from geode_traj.codec.text import neutralise
from geode_traj.errors import DataError, WorldError
from geode_traj.model.finding import Finding, Place, Severity

MAX_BYTES: Final = 1 << 20
MAX_LINE: Final = 8192
MAX_LINES: Final = 10_000
"""Bounds of a file: bytes, bytes of a line, lines."""

FINDINGS: Final[dict[str, tuple[Severity, str, str]]] = {
    "KR101": ("warning", "certificate authorities are not supported", "list the signing keys themselves"),
    "KR102": ("note", "only ssh-ed25519 keys are supported", "releases are signed with Ed25519"),
    "KR103": ("warning", "excluded principals (`!`) are not supported", "list who may sign instead"),
    "KR104": ("warning", "a time without Z is read as UTC", "write Z behind it: ssh-keygen uses local time"),
}
"""Every finding of this module: severity, message, hint. The line does not count, but for KR104."""

_KEY_TYPES: Final = re.compile(
    r"(?:ssh-(?:ed25519|rsa|dss|ed448)|ecdsa-sha2-nistp(?:256|384|521)|sk-ssh-ed25519@openssh\.com"
    r"|sk-ecdsa-sha2-nistp256@openssh\.com|[a-z0-9-]+-cert-v0[01]@openssh\.com)"
)
_OPTION: Final = re.compile(r'([A-Za-z-]+)(?:="([^"\\]*)")?(,|[ \t]+)')
_TIME: Final = re.compile(r"([0-9]{8})(?:([0-9]{4})([0-9]{2})?)?(Z|UTC)?", re.IGNORECASE)
_SPACE: Final = re.compile(r"[ \t]+")


@dataclass(frozen=True, slots=True)
class Entry:
    """One line: who signs, with which key (raw, 32 bytes), for which namespaces (None: any), and when."""

    line: int
    principals: tuple[str, ...]
    public_key: bytes
    namespaces: tuple[str, ...] | None = None
    valid_after: datetime | None = None
    valid_before: datetime | None = None

    def admits(self, public_key: bytes, namespace: str, at: datetime | None) -> bool:
        """Tell whether this line lets the key sign for `namespace`; times count only where `at` is given."""
        return (
            self.public_key == public_key
            and (self.namespaces is None or listed(namespace, self.namespaces))
            and (at is None or self.valid_after is None or self.valid_after <= at)
            and (at is None or self.valid_before is None or at <= self.valid_before)
        )


@dataclass(frozen=True, slots=True)
class Keyring:
    """The signers one trusts, and what of the file was left out."""

    entries: tuple[Entry, ...] = ()
    findings: tuple[Finding, ...] = ()

    @property
    def public_keys(self) -> tuple[bytes, ...]:
        """Every raw public key once, however many lines it stands on, in their order."""
        return tuple(dict.fromkeys(entry.public_key for entry in self.entries))

    def signers_for(self, public_key: bytes, namespace: str, at: datetime | None = None) -> tuple[str, ...]:
        """Return whom a key signs for in `namespace`: principals as written, which may be patterns.

        Empty for a key that is not trusted. Several names of one key are still one signer. `at` (aware)
        applies valid-after and valid-before; without it they do not count.
        """
        entries = (entry for entry in self.entries if entry.admits(public_key, namespace, at))
        return tuple(dict.fromkeys(name for entry in entries for name in entry.principals))

    def allows(self, principal: str, public_key: bytes, namespace: str, at: datetime | None = None) -> bool:
        """Tell whether `principal` may sign with this key for `namespace`, as `ssh-keygen -Y verify` does."""
        return listed(principal, self.signers_for(public_key, namespace, at))


def allowed_line(principal: str, namespace: str, public_key: bytes) -> str:
    """Return the line, without a line end, that lets one principal sign for one namespace with this key.

    Raises `WorldError` TE101 for a name that would read as several, as a pattern or as more of the line.
    """
    check_word("principal", principal)
    check_word("namespace", namespace)
    return f'{principal} namespaces="{namespace}" {keyfile.public_line(public_key)}'


def check_word(what: str, text: str) -> None:
    """Raise `WorldError` TE101 for a name that cannot stand as one word of an allowed_signers line."""
    if not text or neutralise(text) != text or re.search(r'[\s,*?!"\\]|^#', text):
        why = 'it is empty or holds space, control characters, or one of , * ? ! " \\ or # in front'
        raise WorldError("TE101", what=what, why=why)


def load(path: Path) -> Keyring:
    """Read an allowed_signers file; `WorldError` TE201 where it cannot be read, `DataError` as `parse`."""
    return parse(files.read_bounded(path, MAX_BYTES), place=str(path))


def parse(data: bytes, *, place: str = "") -> Keyring:
    """Read the bytes of an allowed_signers file.

    Raises `DataError`: TE103 for a malformed line, TE203 for too many bytes, TE311 for an unsound key.
    """
    if len(data) > MAX_BYTES:
        raise DataError("TE203", place=place, limit=MAX_BYTES)
    lines = data.removesuffix(b"\n").split(b"\n")
    if len(lines) > MAX_LINES:
        raise DataError("TE103", place=place, path="of signers", why=f"it has more than {MAX_LINES} lines")
    entries: list[Entry] = []
    findings: list[Finding] = []
    for number, line in enumerate(lines, start=1):
        reading = _Line(place, number)
        entry = reading.entry(line)
        if entry is not None:
            entries.append(entry)
        findings += reading.findings
    return Keyring(tuple(entries), tuple(findings))


class _Line:
    """Reads one line, and gathers what it finds."""

    def __init__(self, file: str, number: int) -> None:
        self._file = file
        self._number = number
        self._place = f"{file}:{number}" if file else f"line {number}"
        self.findings: list[Finding] = []

    def entry(self, line: bytes) -> Entry | None:
        """Return what a line says: principals, perhaps options, key type, key, perhaps a comment."""
        text = self._text(line).strip(" \t")
        if not text or text.startswith("#"):
            return None
        principals, rest = self._split(text)
        names = tuple(principals.split(","))
        if '"' in principals or not all(names):
            raise self._fail("a principal is empty or quoted")
        options: dict[str, str | None] = {}
        if not _KEY_TYPES.fullmatch(_SPACE.split(rest)[0]):
            options, rest = self._options(rest)
        kind, key = self._split(rest)
        if not _KEY_TYPES.fullmatch(kind):
            raise self._fail("its key type is not known")
        unsupported = {
            "KR101": "cert-authority" in options,
            "KR102": kind != "ssh-ed25519",
            "KR103": any(name.startswith("!") for name in names),
        }
        for code, holds in unsupported.items():
            if holds:
                self._note(code)
                return None
        public_key = keyfile.read_public(f"{kind} {_SPACE.split(key)[0]}".encode(), place=self._place)
        return self._with_options(names, public_key, options)

    def _text(self, line: bytes) -> str:
        """Return the line as text that looks like what it is."""
        if len(line) > MAX_LINE:
            raise self._fail(f"it is longer than {MAX_LINE} bytes")
        try:
            text = line.decode()
        except UnicodeDecodeError:
            raise self._fail("it is not UTF-8") from None
        plain = text.replace("\t", " ")
        if neutralise(plain) != plain:
            raise self._fail("it holds hidden characters (a carriage return or byte order mark?)")
        return text

    def _split(self, text: str) -> tuple[str, str]:
        """Return the first field and the rest of the line."""
        first, *rest = _SPACE.split(text, maxsplit=1)
        if not rest:
            raise self._fail("it ends before its key")
        return first, rest[0]

    def _options(self, text: str) -> tuple[dict[str, str | None], str]:
        """Return the options (names in lower case) in front of the key, and the rest of the line."""
        options: dict[str, str | None] = {}
        at = 0
        while True:
            match = _OPTION.match(text, at)
            if match is None:
                raise self._fail("an option is malformed, or the key is missing")
            name, value = match[1].lower(), match[2]
            if name not in ("cert-authority", "namespaces", "valid-after", "valid-before"):
                raise self._fail("an option is not known")
            if name in options or (value is None) != (name == "cert-authority"):
                raise self._fail(f"{name} stands twice, or with a value too few or too many")
            options[name] = value
            at = match.end()
            if match[3] != ",":
                return options, text[at:]

    def _with_options(
        self, names: tuple[str, ...], public_key: bytes, options: dict[str, str | None]
    ) -> Entry:
        namespaces = options.get("namespaces")
        patterns = None if namespaces is None else tuple(namespaces.split(","))
        if patterns is not None and not all(patterns):
            raise self._fail("a namespace is empty")
        after, before = (self._time(options.get(name)) for name in ("valid-after", "valid-before"))
        if after is not None and before is not None and before <= after:
            raise self._fail("valid-before is not later than valid-after")
        return Entry(self._number, names, public_key, patterns, after, before)

    def _time(self, text: str | None) -> datetime | None:
        """Return YYYYMMDD[HHMM[SS]][Z] as an aware time."""
        if text is None:
            return None
        match = _TIME.fullmatch(text)
        if match is None:
            raise self._fail("a time is not YYYYMMDD[HHMM[SS]][Z]")
        if match[4] is None:
            self._note("KR104")
        digits = f"{match[1]}{match[2] or '0000'}{match[3] or '00'}"
        try:
            return datetime.strptime(digits, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
        except ValueError:
            raise self._fail("a time does not exist") from None

    def _note(self, code: str) -> None:
        severity, message, hint = FINDINGS[code]
        place = Place(file=self._file or None, line=self._number)
        self.findings.append(Finding(code, severity, message, place, hint=hint))

    def _fail(self, why: str) -> DataError:
        return DataError("TE103", place=self._place, path="of signers", why=why)
