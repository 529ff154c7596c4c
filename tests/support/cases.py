"""Fixture cases of transcripts: finding them, making them real, comparing with what they expect.

A case is a folder `fixtures/<format>/<case>/`, its name ending in `_fail` where `migrate` does not exit 0:

- `input/…`: what is migrated, as it stands in the repository;
- `build.json`, for bytes that cannot stand in a text file: {path: [chunk, …]}, the files to make. A chunk
  is text, or an object `{"text": …}`, `{"hex": …}` or `{"of": [chunk, …]}` with `times` (default 1). Where
  an object `{"tables": …, "rows": …}` stands in place of the list, the file is a SQLite database
  (`databases.make`), where it is `{"members": …, "method": …}` a zip archive (`archives.pack`);
- `expect.json`: the outcome.

In any of these files `{{secret:KIND}}` becomes `secrets.make(KIND)` and `{{core:KIND}}` becomes
`secrets.core(KIND)`, escaped for JSON in `.json` and `.jsonl` files and in chunks.

Keys of `expect.json`; whatever is absent is not claimed:

- `description`: one sentence. `outcome`: `ok`, `incomplete` (lines were damaged), `unreadable` (a source
  was).
- `migrate`: `paths` to give to `migrate`, relative to the case (default `["input"]`); `session_id`, its
  option.
- `exit_code` of `migrate` into an empty store.
- `again`: false where a second run may say more than that nothing is new; a test of its own tells what.
- `receipts`, in any order; a source that has none here is not claimed:
  - `source`: path relative to the case; `status`; `reason`;
  - `records`: total, converted, kept_raw, damaged, blank, foreign. total counts the physical lines, which
    end in LF or CRLF, without the empty rest after the last one;
  - `sessions`, in any order: session_id, events (of this source), generations (how many numbers the session
    has in this source), terminal (its last stored event is session.ended);
  - `damaged`, in order: line (1-based), offset (bytes), length (bytes, without the line end), reason
    (not_json, not_object, torn_tail, nul_block, too_deep, line_too_long).
- `events`: stored events, each found by `line` (the row's `_legacy.line_number`) and, where the case has
  several sources, `file`; or by `ordinal`, its place from 1 among the stored events of `session_id`. The
  other keys are columns as stored, and `payload`.
- `order`: session id -> the stored order of its events as [file, line] pairs.
- `exports`: session id -> a full export:
  - `scope_complete`, `replay_complete`; `scope_reasons`, `replay_reasons`: the whole list, in any order;
  - `pairs` of [call line, result line] that carry one call id and one turn id, no two pairs the same;
  - `derived`: the lines whose call id is derived; `ambiguous`: lines whose `_derived` must say so (others
    may);
  - `turns`: lists of lines; those of one list share a turn id, different lists have different ones;
  - `events`: as above, but exported, with `content_chars` for the length of a body that was put back;
  - `lacks`: texts that stand nowhere in it.
- `never`: texts no line of which stands anywhere in the store's bytes or in any export.

Values are compared by `mismatches`, so that each may be an operator.
"""

from __future__ import annotations

import json
import re
import shutil
from functools import partial
from pathlib import Path

from . import archives, databases
from .secrets import core, make

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "legacy"
_PLACE = re.compile(r"\{\{(secret|core):([a-z0-9_]+)\}\}")


def all_cases() -> list[Path]:
    """Return the folders of the cases of all formats, sorted; what claims no receipts is no such case."""
    found = FIXTURES.parent.glob("*/*/expect.json")
    return sorted(path.parent for path in found if "receipts" in json.loads(path.read_text("utf-8")))


def legacy_cases() -> list[Path]:
    """Return the folders of all legacy cases, sorted by name."""
    return sorted(path.parent for path in FIXTURES.glob("*/expect.json"))


def load_expect(rendered: Path) -> dict:
    """Return a rendered case's `expect.json`."""
    return json.loads((rendered / "expect.json").read_text("utf-8"))


def _fill(text: str, *, escape: bool) -> str:
    def secret(found: re.Match[str]) -> str:
        value = make(found[2]) if found[1] == "secret" else core(found[2])
        return json.dumps(value)[1:-1] if escape else value

    return _PLACE.sub(secret, text)


def _chunk(chunk: object) -> bytes:
    if isinstance(chunk, str):
        return _fill(chunk, escape=True).encode()
    assert isinstance(chunk, dict)
    if "hex" in chunk:
        data = bytes.fromhex(chunk["hex"])
    elif "text" in chunk:
        data = _chunk(chunk["text"])
    else:
        data = b"".join(_chunk(part) for part in chunk["of"])
    return data * chunk.get("times", 1)


def render(case_dir: Path, out_dir: Path) -> Path:
    """Make the case real in `out_dir`: copy, fill in secrets, build. Returns `out_dir/<case>`."""
    target = out_dir / case_dir.name
    shutil.copytree(case_dir, target)
    for path in sorted(item for item in target.rglob("*") if item.is_file()):
        raw = path.read_bytes()
        if b"{{" in raw and path.name != "build.json":
            path.write_bytes(_fill(raw.decode(), escape=path.suffix in (".json", ".jsonl")).encode())
    build = target / "build.json"
    if build.exists():
        for name, chunks in json.loads(build.read_text("utf-8")).items():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            if isinstance(chunks, dict) and "members" in chunks:
                archive = json.loads(_fill(json.dumps(chunks), escape=True))
                archives.pack(target / name, archive["members"], archive["method"])
            elif isinstance(chunks, dict):
                databases.make(target / name, chunks, partial(_fill, escape=False))
            else:
                (target / name).write_bytes(b"".join(_chunk(chunk) for chunk in chunks))
        build.unlink()
    return target


def _operator(name: str, wanted: object, actual: object) -> bool:
    text = actual if isinstance(actual, str) else json.dumps(actual, ensure_ascii=False)
    if name == "$any":
        return True
    if name == "$in":
        return actual in wanted  # type: ignore[operator]
    if name == "$contains":
        return str(wanted) in text
    if name == "$lacks":
        return str(wanted) not in text
    if name == "$regex":
        return re.search(str(wanted), text) is not None
    if name == "$length":
        return len(actual) == wanted  # type: ignore[arg-type]
    assert name == "$set", name
    return sorted(map(json.dumps, wanted)) == sorted(map(json.dumps, actual))  # type: ignore[call-overload]


def mismatches(expected: object, actual: object, at: str = "") -> list[str]:
    """Return where `actual` is not as `expected`, as JSON pointers with a word; empty when it fits.

    An object fits when each of its keys does (more are allowed); a list item by item; anything else when
    equal, `true` and 1 being different. Operators are objects of one key: `$any` (there, any value),
    `$absent` (as a member: not there), `$in`, `$contains` and `$lacks` (of a text, or of the JSON text),
    `$regex`, `$length`, `$set` (a list in any order).
    """
    if isinstance(expected, dict):
        if len(expected) == 1 and (name := next(iter(expected))).startswith("$"):
            return [] if _operator(name, expected[name], actual) else [f"{at}: not {name}"]
        if not isinstance(actual, dict):
            return [f"{at}: not an object"]
        problems = []
        for key, value in expected.items():
            if value == {"$absent": True}:
                problems += [f"{at}/{key}: there"] if key in actual else []
            elif key not in actual:
                problems.append(f"{at}/{key}: missing")
            else:
                problems += mismatches(value, actual[key], f"{at}/{key}")
        return problems
    if isinstance(expected, list):
        if not isinstance(actual, list) or len(actual) != len(expected):
            return [f"{at}: not a list of {len(expected)}"]
        pairs = enumerate(zip(expected, actual, strict=True))
        return [problem for i, (want, have) in pairs for problem in mismatches(want, have, f"{at}/{i}")]
    equal = expected == actual and isinstance(expected, bool) == isinstance(actual, bool)
    return [] if equal else [f"{at}: {actual!r}, not {expected!r}"]


if __name__ == "__main__":  # python -m tests.support.cases CASE OUT
    import sys

    render(Path(sys.argv[1]), Path(sys.argv[2]))
