"""`review`: what leaves is looked at, decided, redacted, scanned again and signed off."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from geode_traj.cli.looking import known_options, scanner_options
from geode_traj.cli.options import PATH, format_option, moment_or_now
from geode_traj.cli.output import note, say
from geode_traj.cli.policies import effective, policy_option, release_key
from geode_traj.codec.text import clip
from geode_traj.contract import policy as policies
from geode_traj.contract.times import iso_seconds
from geode_traj.errors import EXIT_OK, EXIT_PARTIAL, EXIT_REFUSED, WorldError
from geode_traj.migrate.beside import cores
from geode_traj.review import decide as decisions
from geode_traj.review.decide import ACTIONS, CLASSES, REJECTIONS, Choice
from geode_traj.review.folder import Review, open_review
from geode_traj.review.state import UNDECIDED, State, ranges

_REVIEWER = click.option("--reviewer", metavar="NAME", help="Who decides.")
_AT = click.option("--at", metavar="TIME", help="When; default SOURCE_DATE_EPOCH, else now.")
_FOLDER = click.argument("folder", type=PATH)


@click.group()
def command() -> None:
    """Review trajectories for publication, in a folder of their own."""


@command.command()
@click.argument("trajectories", nargs=-1, required=True, type=PATH)
@click.option("--out", type=PATH, required=True, help="The review folder to make.")
@policy_option("What becomes of what is found")
@click.option("--store", type=PATH, help="Make the private key of the review from that of this store.")
@click.option("--key-file", type=PATH, help="Use the private key in this file, as a review has one.")
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="Processes at work (default: one a core).")
@_AT
@scanner_options()
def start(
    trajectories: tuple[Path, ...],
    out: Path,
    policy: str | None,
    store: Path | None,
    key_file: Path | None,
    jobs: int | None,
    at: str | None,
    **looking: Any,
) -> int:
    """Begin a review: copy, verify and search trajectories, and make the folder of the review.

    Of folders, every file that ends in .json. The folder of the review is private: it holds the trajectories
    as they are. What was found stands in findings.jsonl, by place, class and value number; no file but the
    candidates holds a secret. A call that was interrupted goes on where it was when it is made again. Reviews
    with the same key, from --store or --key-file, give equal values equal digests; without, the key is new.

    Exit: 3 something was refused (invalid, unreadable, or not to be scanned) and stays out, 12 the folder
    exists.
    """
    from geode_traj.cli.looking import scanner
    from geode_traj.jobs.review_start import start as begin
    from geode_traj.jobs.verify_files import files

    done = begin(
        list(files(trajectories, ".json")),
        out,
        policy=effective(policy),
        scanner=scanner("publish", **looking),
        at=_time(at),
        sensitive=looking["sensitive_fields"],
        key=release_key(store, key_file),
        jobs=jobs or cores(),
    )
    for one in done.refused:
        note(f"{clip(one.path, 200)}: refused, {one.why}")
    review = open_review(out)
    _say_where(State(review))
    return EXIT_PARTIAL if done.refused else EXIT_OK


@command.command()
@_FOLDER
@format_option("text", "json")
def status(folder: Path, form: str) -> int:
    """Show where a review stands: decided, undecided, seen, left out.

    Exit: 4 something is undecided or too little was seen, 10 the journal or another part was changed.
    """
    from geode_traj.review.summary import summary

    state = State(open_review(folder))
    told = summary(state)
    if form == "json":
        say(json.dumps(told, sort_keys=True, ensure_ascii=False))
    else:
        _say_where(state)
        _say_details(told)
    return EXIT_OK if told["ready"] else EXIT_REFUSED


@command.command()
@_FOLDER
@click.option("--action", type=click.Choice([*ACTIONS, "reject", "seen"]),
              help="approve: publish as it is; redact: replace; later: nothing yet; reject: leave the whole "
              "trajectory out; seen: note that events were looked at.")  # fmt: skip
@click.option("--auto", is_flag=True, help="Decide by policy what nobody has decided.")
@_REVIEWER
@click.option("--finding", "ids", multiple=True, type=click.IntRange(1), help="A finding's number.")
@click.option("--value", "values", multiple=True, metavar="vN", help="Every finding of this value.")
@click.option("--rule", help="Every finding of this rule.")
@click.option("--class", "cls", help="Every finding of this class.")
@click.option("--band", type=click.Choice(policies.BANDS), help="Every finding of this band.")
@click.option("--path", help="Every finding in this trajectory; the one to reject, or that was seen.")
@click.option("--all", "everything", is_flag=True, help="Every finding.")
@click.option("--events", metavar="A-B", help="With seen: these events (default: all).")
@click.option("--reason", type=click.Choice([*policies.REASONS, *REJECTIONS]),
              help="Why it may be published as it is, or why the trajectory is left out.")  # fmt: skip
@click.option("--as", "disclosed", type=click.Choice(CLASSES), default=CLASSES[0], show_default=True,
              help="With reject: how the release counts it.")  # fmt: skip
@click.option("--note", "text", default="", help="A remark; it must hold nothing private.")
@_AT
def decide(folder: Path, action: str | None, auto: bool, reviewer: str | None, **given: Any) -> int:
    """Decide what becomes of findings: of those that fit everything given.

    What the policy has fixed is not decided again. A decision is on disk before it is told; `undo` takes it
    back.

    Exit: 4 with --auto, something is left that the policy wants a person for; 10 the journal was changed.
    """
    state = State(open_review(folder))
    at = _time(given["at"])
    if auto:
        if action is not None:
            raise WorldError("TE101", what="the call", why="give --action or --auto, not both")
        return _auto(state, at)
    if action is None or reviewer is None:
        raise WorldError("TE101", what="the call", why="give --action and --reviewer, or --auto")
    if action in ("reject", "seen"):
        return _of_trajectory(state, action, reviewer, at, given)
    chosen = _choice(given).of(state.review.findings)
    if not chosen:
        raise WorldError("TE101", what="the choice", why="no finding fits all of it")
    done = decisions.decide(
        state, chosen, action, reviewer=reviewer, at=at, reason=given["reason"] or "", note=given["text"]
    )
    if done.entry is not None:
        say(f"entry {done.entry.seq}: {action} {done.findings} finding(s)")
    if done.fixed:
        note(f"{done.fixed} of them are fixed by the policy {state.review.policy.name}")
    _say_where(state)
    return EXIT_OK


@command.command()
@_FOLDER
@_REVIEWER
@click.option(
    "--entry", type=click.IntRange(1), metavar="N", help="This entry (default: the last that stands)."
)
@_AT
def undo(folder: Path, reviewer: str | None, entry: int | None, at: str | None) -> int:
    """Take back a decision of yours: the journal keeps both."""
    if reviewer is None:
        raise WorldError("TE101", what="the call", why="give --reviewer")
    state = State(open_review(folder))
    undone = decisions.undo(state, reviewer=reviewer, at=_time(at), seq=entry)
    say(f"entry {undone.seq} is undone: {undone.body.get('action', 'reject')}")
    _say_where(state)
    return EXIT_OK


@command.command()
@_FOLDER
@click.option("--out", type=PATH, required=True, help="The file to write.")
@click.option("--allow", is_flag=True, help="Write allow tables for a policy instead.")
def export(folder: Path, out: Path, allow: bool) -> int:
    """Write what was decided into one file, for `redact --decisions`.

    It names candidates by their digests and findings by their places: keep it private, like the review. With
    --allow it is what people approved, by rule and keyed digest of the value: append it to a policy, and
    reviews with the same key (--store, --key-file) ask no more.

    Exit: 4 something is undecided, 12 the file exists.
    """
    from geode_traj.codec.files import write_new
    from geode_traj.jobs.review_allow import allowed
    from geode_traj.review.exported import write

    review = open_review(folder)
    if allow:
        tables = [one.to_toml() for one in allowed(review)]
        write_new(out, tables, mode=0o600)
        say(f"{len(tables)} allowed value(s) in {clip(str(out), 400)}")
    else:
        say(f"{write(review, out)} decision(s) in {clip(str(out), 400)}")
    return EXIT_OK


@command.command()
@_FOLDER
@_REVIEWER
@click.option("--method", required=True, help="How it was reviewed: for example, read in full.")
@click.option("--scope", required=True, help="What the review covers; the release's scope must be the same.")
@click.option("--attestation", required=True, help="What the reviewer attests.")
@click.option("--reviewed-at", metavar="TIME", help="When; default SOURCE_DATE_EPOCH, else now.")
@click.option("--key", "signing_key", type=PATH, help="Sign the statement with this key (OpenSSH, Ed25519).")
@click.option("--passphrase-fd", type=int, metavar="N", help="Read its passphrase from this descriptor.")
@known_options()
def sign(folder: Path, reviewer: str | None, signing_key: Path | None, **given: Any) -> int:
    """Redact for publication, scan the result again, and sign the review off.

    Nothing may be undecided. The sign-off binds the digests of the candidates, of what came out, and of
    findings, decisions, policy and rules: any byte changed since voids it. Every digest of private text
    becomes one under the review's key. With --key the same is signed as an in-toto statement,
    signoff.dsse.json. Of the folder only redacted/ leaves, through `release stage`.

    Exit: 4 undecided, too little seen, or something is still found in the result; 10 the journal was changed.
    """
    from geode_traj.cli import signing
    from geode_traj.cli.looking import scanner
    from geode_traj.review.sign import sign as sign_off

    if reviewer is None:
        raise WorldError("TE101", what="the call", why="give --reviewer")
    review = open_review(folder)
    done = sign_off(
        review,
        reviewer=reviewer,
        method=given["method"],
        scope=given["scope"],
        attestation=given["attestation"],
        reviewed_at=moment_or_now(given["reviewed_at"], "--reviewed-at"),
        scanner=scanner(
            "publish",
            review.begun.sensitive_fields,
            given["known_env"],
            given["known_files"],
            [name.partition(" ")[0] for name in review.begun.engines[1:]],
        ),
        signer=signing.signer(signing_key, given["passphrase_fd"]),
    )
    for file in done.files:
        found = ", ".join(f"{name} {count}" for name, count in file.redacted.redactions.items())
        say(f"{clip(file.path, 200)}: {found or 'nothing to redact'}; scanned again, clean")
    for one in done.withheld:
        say(f"{clip(one.path, 200)}: left out ({one.cls}, {one.reason})")
    by = clip(done.review.reviewer, 128)
    note(f"signed off by {by} under the policy {review.policy.name}; stage it with `release stage`")
    return EXIT_OK


@command.command()
@click.argument("name", default=policies.STRICT, type=click.Choice(policies.names()))
def policy(name: str) -> int:
    """Print a packaged policy, as a beginning for one of your own."""
    for line in policies.source(name).decode().splitlines():
        say(line)
    return EXIT_OK


def _auto(state: State, at: str) -> int:
    done = decisions.decide_by_policy(state, at=at)
    if done is not None and done.entry is not None:
        say(f"entry {done.entry.seq}: redact {done.findings} finding(s)")
    _say_where(state)
    return EXIT_REFUSED if any(state.undecided()) else EXIT_OK


def _of_trajectory(state: State, action: str, reviewer: str, at: str, given: dict[str, Any]) -> int:
    path = given["path"]
    if path is None:
        raise WorldError("TE101", what="the call", why=f"{action} is about a trajectory: give --path")
    if action == "seen":
        whole = state.review.of_path(path).events
        decisions.see(state, path, _events(given["events"], whole), reviewer=reviewer, at=at)
        say(f"{clip(path, 200)}: {state.covered(path)} of {whole} events seen")
        return EXIT_OK
    entry = decisions.reject(
        state,
        path,
        reviewer=reviewer,
        at=at,
        reason=given["reason"] or "",
        cls=given["disclosed"],
        note=given["text"],
    )
    say(f"entry {entry.seq}: {clip(path, 200)} is left out")
    _say_where(state)
    return EXIT_OK


def _events(text: str | None, whole: int) -> range:
    if text is None:
        return range(1, whole + 1)
    first, dash, last = text.partition("-")
    if not (first.isdecimal() and (last.isdecimal() or not dash)):
        raise WorldError("TE101", what="--events", why="give a number, or two as 3-17")
    return range(int(first), min(int(last or first), whole) + 1)


def _choice(given: dict[str, Any]) -> Choice:
    values = []
    for text in given["values"]:
        digits = text.removeprefix("v")
        if not digits.isdecimal():
            raise WorldError("TE101", what="--value", why="give a value number like v3")
        values.append(int(digits))
    return Choice(
        frozenset(given["ids"]),
        frozenset(values),
        given["rule"],
        given["cls"],
        given["band"],
        given["path"],
        given["everything"],
    )


def _say_where(state: State) -> None:
    """Say in one line where a review stands."""
    review: Review = state.review
    counts = {kind: sum(classes.values()) for kind, classes in state.counts().items()}
    words = ", ".join(
        f"{counts[kind]} {word}"
        for kind, word in (
            ("redact", "to be replaced"),
            ("approve", "approved"),
            ("withheld", "in what is left out"),
            (UNDECIDED, "UNDECIDED"),
        )
        if counts.get(kind)
    )
    said = f"{len(review.begun.candidates)} file(s), {len(review.findings)} finding(s)"
    say(f"{said}: {words}" if words else said)


def _say_details(told: dict[str, Any]) -> None:
    for kind, classes in told["outcomes"].items():
        say(f"  {kind}: " + ", ".join(f"{cls} {count}" for cls, count in classes.items()))
    waiting = [one["id"] for one in told["undecided"]]
    if waiting:
        spans = ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in ranges(waiting))
        say(f"  undecided: findings {clip(spans, 200)}")
    for one in told["coverage"]:
        say(f"  {clip(one['path'], 200)}: {one['seen_percent']} % seen, {one['wanted_percent']} % wanted")
    for title in ("refused", "rejected"):
        if told[title]:
            say(f"  {title}: " + ", ".join(f"{why} {count}" for why, count in told[title].items()))
    torn = told["journal"]["torn_bytes"]
    say(
        f"  journal: {told['journal']['entries']} entries"
        + (f", {torn} bytes never acknowledged" if torn else "")
    )
    say(f"  policy {told['policy']}, ruleset {told['ruleset']}{', signed off' if told['signed'] else ''}")


def _time(text: str | None) -> str:
    return iso_seconds(moment_or_now(text, "--at"))


@command.command()
@_FOLDER
@_REVIEWER
@_AT
def tty(folder: Path, reviewer: str | None, at: str | None) -> int:
    """Go through the findings of a review at the terminal, one by one, in context.

    Each decision is on disk before the screen says so, so a sitting may end at any moment and the next one
    begins at the first finding that waits. `?` shows the keys.

    Exit: 4 something is undecided yet, or too little was seen.
    """
    from geode_traj.cli.tty import run
    from geode_traj.view.review_tty import Sitting

    if reviewer is None:
        raise WorldError("TE101", what="the call", why="give --reviewer")
    sitting = Sitting(open_review(folder), reviewer, lambda: _time(at))
    run(sitting)
    _say_where(sitting.state)
    return EXIT_OK if sitting.finished else EXIT_REFUSED
