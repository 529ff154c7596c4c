"""A log as a whole, zip or JSON: what it says of the evaluation, and where its samples are."""

from __future__ import annotations

import re
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final

from geode_traj.codec import zip_in
from geode_traj.codec.canonical import dumps
from geode_traj.codec.files import reading
from geode_traj.codec.reading import MAX_DEPTH
from geode_traj.codec.zip_in import Archive, Member
from geode_traj.errors import DataError
from geode_traj.model.event import Damaged
from geode_traj.sources.fields import id_text
from geode_traj.sources.inspect_eval import splitting
from geode_traj.sources.inspect_eval.sample import Sample
from geode_traj.sources.inspect_eval.splitting import Broken, Span

START: Final = "_journal/start.json"
HEADER: Final = "header.json"
_MAX_SPEC_TEXT: Final = 500
_WHOLE: Final = re.compile(r"samples/.+\.json", re.DOTALL)
_SPLIT: Final = re.compile(
    r"(samples/.+_epoch_\d{1,18})/(?:(sample|metadata|skeleton)|(messages|events|calls|attachments)/(\d{1,18}|\w{1,32}))\.json",
    re.DOTALL | re.ASCII,
)


class Failure(Exception):
    """A sample or record cannot be read: `damaged` is what the receipt says of it."""

    def __init__(self, damaged: Damaged) -> None:
        super().__init__(damaged.reason)
        self.damaged = damaged


@dataclass(slots=True)
class Facts:
    """What a log says of its evaluation: its own key, the scalars of its specification, how it stands.

    `completed` holds the samples that a summary calls complete, as canonical JSON of [id, epoch].
    """

    key: str = ""
    spec: dict[str, Any] = field(default_factory=dict)
    status: str = ""
    completed: set[bytes] = field(default_factory=set)


class Log(ABC):
    """One log. `facts` are read at once, records and samples one at a time."""

    def __init__(self, place: str, fallback: str) -> None:
        self.place = place
        self.facts = Facts(fallback)
        self.superseded = 0
        """Members that a later one of the same name replaces."""

    @abstractmethod
    def sample_names(self) -> Iterable[str]:
        """Return the names of the samples' places, in order."""

    @abstractmethod
    def sample(self, name: str) -> Any:
        """Return a context that gives the `Sample` at a place; raise `Failure`."""

    @abstractmethod
    def record_names(self) -> Iterable[str]:
        """Return the names of the records about the evaluation, in order."""

    @abstractmethod
    def record(self, name: str) -> Any:
        """Return a context that gives such a record, its members as a `Sample`'s head; raise `Failure`."""

    def _learn(self, name: str, value: dict[str, Any]) -> None:
        """Take the facts from a record: the header's, which comes last, count."""
        spec = value.get("eval")
        if isinstance(spec, dict):
            self.facts.spec |= {key: one for key, one in spec.items() if _is_scalar(one)}
            self.facts.key = _key(spec) or self.facts.key
        if isinstance(value.get("status"), str) and name != START:
            self.facts.status = value["status"]

    def _learn_summaries(self, listed: Any) -> None:
        for one in listed if isinstance(listed, list) else ():
            if isinstance(one, dict) and one.get("completed") is True:
                self.facts.completed.add(identity(one))


def identity(value: dict[str, Any]) -> bytes:
    """Return who a sample or summary is: its id, which may be a number or a text, and its epoch."""
    return dumps([value.get("id"), value.get("epoch")])


def _is_scalar(value: Any) -> bool:
    return isinstance(value, int | float) or (isinstance(value, str) and len(value) <= _MAX_SPEC_TEXT)


def _key(spec: dict[str, Any]) -> str:
    own = id_text(spec.get("eval_id"))
    if own:
        return own
    parts = [id_text(spec.get(name)) for name in ("run_id", "task_id", "created")]
    return "/".join(part for part in parts if part) if parts[0] or parts[1] else ""


class ZipLog(Log):
    """A log whose records and samples are members of a zip archive."""

    def __init__(self, path: Path, place: str, fallback: str) -> None:
        super().__init__(place, fallback)
        self._path = path
        self._members: dict[str, Member] = {}
        self._samples: dict[str, list[str]] = {}
        self._records: list[str] = []
        with zip_in.shared(path) as archive:
            for member in archive.members:
                self.superseded += member.name in self._members
                self._members[member.name] = member
        for name in self._members:
            split = _SPLIT.fullmatch(name)
            if split or _WHOLE.fullmatch(name):
                self._samples.setdefault(split[1] if split else name, []).append(name)
            else:
                self._records.append(name)
        self._learn_all()

    def sample_names(self) -> Iterable[str]:
        """Return the members that are samples, and the folders of those that are split."""
        return self._samples

    def record_names(self) -> Iterable[str]:
        """Return the other members: the journal first, the header last."""
        return self._records

    @contextmanager
    def sample(self, name: str) -> Iterator[Sample]:
        """Unpack a sample into a file without a name, and give its parts."""
        names = self._samples[name]
        with self._unpacked(names) as (stream, spans):
            sample = Sample(stream)
            with self._explained(names[0]):
                for one in sorted(names, key=_chunk_order):
                    _add_member(sample, one, spans[one])
            yield sample

    @contextmanager
    def record(self, name: str) -> Iterator[Sample]:
        """Unpack a record and give its members; a list is the one member `items`."""
        with self._unpacked([name]) as (stream, spans):
            record = Sample(stream)
            with self._explained(name):
                if splitting.first_byte(stream, spans[name]) == b"{":
                    for key, _, value in splitting.members(stream, spans[name]):
                        record.put(key, value)
                else:
                    record.head = {"items": spans[name]}
            yield record

    def _learn_all(self) -> None:
        known = [name for name in (START, HEADER) if name in self._members]
        summaries = [name for name in self._records if "summaries" in name]
        for name in (*known, *summaries):
            try:
                with self.record(name) as record:
                    value = record.load_head().read.value
            except (Failure, ValueError, RecursionError):
                continue  # it is met again as a record, and told
            if name in known:
                self._learn(name, value)
            else:
                self._learn_summaries(value.get("items"))

    @contextmanager
    def _unpacked(self, names: list[str]) -> Iterator[tuple[BinaryIO, dict[str, Span]]]:
        spans: dict[str, Span] = {}
        with tempfile.TemporaryFile(prefix="geode-traj-") as stream:
            with zip_in.shared(self._path) as archive:
                for name in names:
                    member = self._members[name]
                    start = stream.tell()
                    try:
                        for chunk in archive.chunks(member):
                            stream.write(chunk)
                    except DataError:
                        raise self._failure(archive, member) from None
                    spans[name] = Span(start, stream.tell() - start)
            for name, span in spans.items():
                with self._explained(name):
                    spans[name] = _value(stream, span)
            yield stream, spans

    def _failure(self, archive: Archive, member: Member, reason: str = "") -> Failure:
        reason = reason or f"member_{member.problem or 'damaged'}"
        sha256 = archive.packed_sha256(member)
        return Failure(Damaged(member.index + 1, member.offset, member.packed, sha256, reason, None))

    @contextmanager
    def _explained(self, name: str) -> Iterator[None]:
        """Turn text that is no JSON into the damage of the member that holds it."""
        try:
            yield
        except (Broken, ValueError, RecursionError) as error:
            with zip_in.shared(self._path) as archive:
                raise self._failure(archive, self._members[name], reason_of(error)) from None


def reason_of(error: Exception) -> str:
    """Return the word a receipt has for text that cannot be parsed."""
    if isinstance(error, RecursionError):
        return "too_deep"
    return "torn_tail" if isinstance(error, Broken) and error.torn else "not_json"


def _value(stream: BinaryIO, span: Span) -> Span:
    """Return where the value stands that is all a file holds, less a byte order mark and white space."""
    mark = 3 * (splitting.read(stream, Span(span.offset, min(3, span.length))) == b"\xef\xbb\xbf")
    found = splitting.value_at(stream, span.offset + mark, span.offset + span.length)
    if splitting.read(stream, Span(found.offset + found.length, 1 << 10)).strip(b" \t\r\n\0")[
        : max(0, span.offset + span.length - found.offset - found.length)
    ]:
        raise Broken(found.offset + found.length, torn=False)
    return found


def _chunk_order(name: str) -> tuple[int, str]:
    """Sort the files of a split sample: its shell first, then each list by the number of its first item."""
    found = _SPLIT.fullmatch(name)
    if found is None or found[2] == "sample":
        return -1, ""
    return int(found[4]) if found[4] and found[4].isdecimal() else -1, name


def _add_member(sample: Sample, name: str, span: Span) -> None:
    """Take one file of a sample in."""
    found = _SPLIT.fullmatch(name)
    if found is None or found[2] == "sample":
        sample.add_object(span)
        return
    kind, number = found[3], found[4] or ""
    if kind is None or not number.isdecimal():
        sample.head[found[2] or f"{kind}/{number}"] = span
    elif kind == "attachments":
        for index, text in enumerate(splitting.items(sample.stream, span)):
            sample.attachments[str(int(number) + index)] = text
    else:
        sample.add_list({"messages": sample.pool, "events": sample.events, "calls": sample.calls}[kind], span)


class JsonLog(Log):
    """A log that is one JSON document; its samples are read where they stand."""

    def __init__(self, path: Path, place: str, fallback: str) -> None:
        super().__init__(place, fallback)
        self._path = path
        self._entries: list[tuple[str, Span]] = []
        self._samples: dict[str, Span] = {}
        self._torn: Damaged | None = None
        with reading(path) as stream:
            size = stream.seek(0, 2)
            self._find(stream, size)
            record = self._record(stream)
            value = self._loaded(record)
        if "eval" not in record.head:
            logs = [one for one in value.values() if isinstance(one, dict) and "eval" in one]
            why = "eval is missing" + (": it holds logs by name, and is none itself" if logs else "")
            raise DataError("TE208", name="Inspect log", why=why, place=place)
        if not isinstance(value.get("eval"), dict) and "eval" in value:
            raise DataError("TE208", name="Inspect log", why="eval is no object", place=place)
        self._learn(HEADER, value)

    def sample_names(self) -> Iterable[str]:
        """Return a pointer for each sample."""
        return self._samples

    def record_names(self) -> Iterable[str]:
        """Return the one record, the document without its samples, and a second where it is cut short."""
        return ["header.json", *(["samples"] if self._torn else [])]

    @contextmanager
    def sample(self, name: str) -> Iterator[Sample]:
        """Give the parts of a sample."""
        span = self._samples[name]
        with reading(self._path) as stream:
            sample = Sample(stream)
            try:
                sample.add_object(span)
            except (Broken, ValueError, RecursionError) as error:
                reason = reason_of(error)
                if splitting.first_byte(stream, span) != b"{":
                    reason = "not_object"
                number = int(name.rpartition("/")[2]) + 1
                raise Failure(Damaged(number, *span, sample.sha256(span), reason, None)) from None
            yield sample

    @contextmanager
    def record(self, name: str) -> Iterator[Sample]:
        """Give the document's members but the samples."""
        if name == "samples" and self._torn:
            raise Failure(self._torn)
        with reading(self._path) as stream:
            yield self._record(stream)

    def _record(self, stream: BinaryIO) -> Sample:
        record = Sample(stream)
        for key, value in self._entries:
            record.put(key, value)
        return record

    def _find(self, stream: BinaryIO, size: int) -> None:
        """Find the document's members; of one that is cut short or damaged, what is whole before."""
        mark = 3 * (splitting.read(stream, Span(0, 3)) == b"\xef\xbb\xbf")
        end = mark
        listed: Span | None = None
        try:
            for key, _, value in splitting.members(stream, Span(mark, size - mark)):
                end = value.offset + value.length
                if key == "samples" and splitting.first_byte(stream, value) == b"[":
                    self._entries += [(key, listed)] if listed else []  # a later one counts
                    listed = value
                else:
                    self._entries.append((key, value))
        except Broken as error:
            between = splitting.read(stream, Span(end, min(size - end, 1 << 12)))
            begun = re.match(rb'\s*,\s*"samples"\s*:\s*(?=\[)', between)
            if begun is None:
                self._tear(stream, end, size, error)
            else:
                end += begun.end()
                self._find_samples(stream, Span(end, size - end))
        else:
            behind = splitting.read(stream, Span(end, min(size - end, 1 << 20)))
            rest = re.sub(rb"\A\s*\}?\s*", b"", behind)  # of an empty object, its bracket opens it
            if rest and end > mark:
                self._tear(stream, end + len(behind) - len(rest), size, Broken(end, torn=False))
        if listed is not None:
            self._find_samples(stream, listed)

    def _find_samples(self, stream: BinaryIO, listed: Span) -> None:
        end = listed.offset
        try:
            for index, one in enumerate(splitting.items(stream, listed)):
                self._samples[f"/samples/{index}"] = one
                end = one.offset + one.length
        except Broken as error:
            self._tear(stream, end, listed.offset + listed.length, error)

    def _tear(self, stream: BinaryIO, offset: int, end: int, error: Broken) -> None:
        """Remember from where on the document cannot be read."""
        rest = Span(offset, end - offset)
        sha256 = Sample(stream).sha256(rest)
        self._torn = self._torn or Damaged(len(self._samples) + 1, *rest, sha256, reason_of(error), None)

    def _loaded(self, record: Sample) -> dict[str, Any]:
        try:
            return dict(record.load_head().read.value)
        except RecursionError:
            raise DataError("TE204", limit=MAX_DEPTH, place=self.place) from None
        except ValueError:
            raise DataError("TE202", why="the document is no JSON", place=self.place) from None
