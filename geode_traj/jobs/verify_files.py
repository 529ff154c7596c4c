"""Verifying files and folders into one report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from geode_traj import __version__
from geode_traj.codec.files import is_folder, walk
from geode_traj.contract.plan import Plan
from geode_traj.errors import EXIT_FINDINGS, EXIT_PARTIAL, WorldError, worst_exit
from geode_traj.jobs.verify_inputs import verify_input
from geode_traj.model.finding import Finding, Place
from geode_traj.model.report import Entry, Report
from geode_traj.verify import Verified
from geode_traj.verify.result import RULESET

if TYPE_CHECKING:  # loaded where it is asked for
    from geode_traj.jobs.selection import Selection

Require = Literal["scope", "replay"]
SCHEMA_ID: Final = "geode-traj.verify-report@1"


def files(paths: Iterable[Path], suffix: str) -> Iterator[Path]:
    """Yield named paths as they are, missing ones too, and of folders the files with a suffix, in order."""
    for path in paths:
        yield from (found for found in walk(path) if found == path or found.name.endswith(suffix))


def verify_paths(paths: Iterable[Path], plan: Plan | None = None) -> Iterator[Verified]:
    """Verify files by what they hold and, of folders, every `*.json`; what cannot be read is a result too.

    A folder that is one transcript as a whole is verified as that. What ran is reconciled with `plan`.
    """
    for path in paths:
        if is_folder(path):
            from geode_traj.jobs.verify_others import is_transcript

            if is_transcript(path):
                yield from verify_input(path, plan=plan)
                continue
        for found in files([path], ".json"):
            yield from verify_input(found, plan=plan)


def report(
    given: Iterable[Verified],
    *,
    require: Require | None = None,
    native_ids: bool = False,
    select: Selection | None = None,
) -> tuple[Report, int]:
    """Return the report of some results, and the exit code.

    `require` asks for completeness and `native_ids` for no derived ids; what is missing becomes an error
    finding (GT001, GT002), so that every reader of the report sees why. `select` leaves out the findings of
    other codes, which are counted; verdicts stay those of the whole file, and what makes one unreadable is
    told. Raises `WorldError` TE104 where no file matched.
    """
    results = [_asked(result, require, native_ids) for result in given]
    if not results:
        raise WorldError("TE104")
    verdicts = Counter(result.verdict for result in results)
    head: dict[str, Any] = {"tool_version": __version__, "ruleset": RULESET}
    summary: dict[str, Any] = {
        name: verdicts[name] for name in ("valid", "incomplete", "invalid", "unreadable")
    }
    if select is not None:
        head["select"] = list(select.words)
    entries = tuple(_entry(result, select) for result in results)
    found = Report(SCHEMA_ID, head, "results", entries, summary)
    return found, exit_code(found)


def exit_code(report: Report) -> int:
    """Return what a verification ends with: 3 where an input is unreadable, 1 where something fails.

    What a baseline knows does neither.
    """
    codes = [EXIT_PARTIAL if entry.data["verdict"] == "unreadable" else EXIT_FINDINGS
             for entry in report.entries if report.failing(entry) or _unlisted(entry)]  # fmt: skip
    return worst_exit(codes)


def _unlisted(entry: Entry) -> bool:
    """Tell whether there are more errors than are listed, and than are known."""
    errors = {found.code for found in entry.findings if found.severity == "error"}
    return any(found.unlisted and found.code in errors and not found.known for found in entry.findings)


def _entry(result: Verified, select: Selection | None) -> Entry:
    told, data = headline(result), result.to_json()
    file = (
        next((found.place.file for found in result.findings if _is_in(result, found.place.file)), None) or ""
    )
    if select is None or result.verdict == "unreadable":
        return Entry(result.name, told, result.findings, data, file)
    findings, left = select.part(result.findings)
    data = {**data, "findings": [found.to_json() for found in findings], "not_selected": left}
    if left:
        told += "; not selected: " + ", ".join(f"{code} {count}" for code, count in left.items())
    return Entry(result.name, told, findings, data, file)


def _is_in(result: Verified, file: str | None) -> bool:
    return file is not None and result.name.startswith(f"{file}#")


def _asked(result: Verified, require: Require | None, native_ids: bool) -> Verified:
    """Return the result with what the caller asked for judged as errors."""
    place = Place(file=result.name)
    more = []
    if require and result.scope_complete is not None:  # a ledger has no scope
        scope, replay = result.scope_complete, result.replay_complete
        if not (scope and (replay or require == "scope")):
            reasons = result.scope_reasons + (result.replay_reasons if require == "replay" else ())
            why = "; ".join(reasons) or "not complete"
            more.append(Finding("GT001", "error", f"{require} is not complete: {why}", place))
    if native_ids and result.derived_ids:
        more.append(Finding("GT002", "error", f"{result.derived_ids} id(s) are derived, not native", place))
    return replace(result, verdict="invalid", findings=(*result.findings, *more)) if more else result


def headline(result: Verified) -> str:
    """Return one line for people: verdict, size, completeness and why not."""
    if result.verdict == "unreadable":
        return "unreadable"
    if result.scope_complete is None:
        return f"{result.verdict}, {result.events} record(s)"
    scope = "complete" if result.scope_complete else "incomplete"
    replay = "complete" if result.replay_complete else "incomplete"
    reasons = "; ".join(dict.fromkeys(result.scope_reasons + result.replay_reasons))
    return f"{result.verdict}, {result.events} event(s), scope {scope}, replay {replay}" + (
        f" ({reasons})" if reasons else ""
    )
