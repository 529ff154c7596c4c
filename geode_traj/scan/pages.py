"""A page for every rule, for whoever meets its name in a report."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from geode_traj.contract.gates import GATE_CLASSES
from geode_traj.scan import media
from geode_traj.scan.engines import NAMES
from geode_traj.scan.fields import SENSITIVE
from geode_traj.scan.known import VALUE
from geode_traj.scan.prose import RULE
from geode_traj.scan.rules import Band, Rule, packaged

_KNOWN: Final = (
    "It is known by its shape.",
    "It is known by where it stands.",
    "Only a name beside it says so: it may be a harmless word.",
)
_BANDS: Final[dict[Band, str]] = {
    "high": "A scan fails on it.",
    "review": "A person decides; a scan fails on it with --fail-on review.",
    "note": "It is mentioned only.",
}
_IMPORT: Final = "An import redacts it, and so does a review."
_PUBLISH: Final = "It stays in the store; a review redacts it in what is published."


class RulePage(NamedTuple):
    """What a rule's name means."""

    id: str
    band: Band
    text: str


def pages() -> Iterator[RulePage]:
    """Yield the page of every rule of the packaged table, and of those that are code."""
    yield from map(_of_row, packaged().rules)
    for cls in GATE_CLASSES:
        title = f"A hit of the gate class {cls} (record contract §8)."
        yield RulePage(f"gate_{cls}", "high", f"{title}\n\nNo release may hold one; a review redacts it.")
    title = "A secret of the exporting user, given beforehand."
    yield RulePage(VALUE, "high", f"{title}\n\nIt is known by its own characters. {_IMPORT}")
    for what in ("user", "host"):
        title = f"The name of a {what} that is met elsewhere in the same transcript."
        where = "It is learned from paths, prompts, listings and commits."
        yield RulePage(f"learned_{what}", "review", f"{title}\n\n{where} {_PUBLISH}")
    title = "An image that carries EXIF or XMP: places, devices, times, names."
    yield RulePage(media.CLASS, "review", f"{title}\n\n{_BANDS['review']} {_PUBLISH}")
    title = "A name or an address in what a user or an assistant writes, as a recogniser guesses."
    yield RulePage(RULE, "review", f"{title}\n\n{_BANDS['review']} Nothing is redacted on its word alone.")
    for name in NAMES:
        title = f"What the engine {name} takes for a secret and no rule of ours finds."
        yield RulePage(name, "review", f"{title}\n\n{_BANDS['review']} {_PUBLISH}")
    title = "The value of a key that names a secret."
    yield RulePage("named_value", "high", f"{title}\n\n{_KNOWN[2]} {_IMPORT}")
    title = "The value of a sensitive key, whatever it is."
    names = f"The keys are {', '.join(sorted(SENSITIVE))}, and configured ones."
    yield RulePage("sensitive_key", "high", f"{title}\n\n{names} {_IMPORT}")
    title = "The value of a sensitive key in JSON that stands inside a text."
    yield RulePage("sensitive_field", "high", f"{title}\n\n{_IMPORT}")


def _of_row(rule: Rule) -> RulePage:
    imported = "import" in rule.profiles
    kind = "A credential" if imported else "Personal data"
    more = (_KNOWN[rule.vague], _BANDS[rule.band], _IMPORT if imported else _PUBLISH)
    return RulePage(rule.id, rule.band, f"{kind} of the class {rule.cls}.\n\n{' '.join(more)}")
