"""The scanner: text to spans, and the filter that lets clean payloads pass.

The triggers of all rules are looked for in the bytes first (`Triggers`); only rules whose trigger is there
are run as matchers, on the text and on its decoded views. The same look at the canonical bytes of a whole
payload is `may_match`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

import re2

from geode_traj.contract.gates import GATE_CLASSES, GateHit, find_hits, may_hit
from geode_traj.scan import fields, media, plausible
from geode_traj.scan.engines import CLASS, Engine
from geode_traj.scan.known import HOST, USER, VALUE, Known
from geode_traj.scan.known import span as known_span
from geode_traj.scan.matching import HOME, HOME_NAME, Span, characters, leftover, run, settled, uncovered
from geode_traj.scan.rules import Profile, Rule, Ruleset, options, packaged
from geode_traj.scan.table.structures import NAME
from geode_traj.scan.triggers import Triggers
from geode_traj.scan.views.trail import View
from geode_traj.scan.views.walk import Allowance, Decoder, utf8, views

_ESCAPED_ASCII: Final = rb"\\u00[2-7][0-9A-Fa-f]"
"""A printable character written as an escape inside text: it may hide any token from the other triggers."""

_IDENTIFIES: Final = re.compile(
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    r"|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?(?:Z|[+-][0-9]{2}:[0-9]{2})?"
)
"""Ids and times, of which every record has some: no rule finds anything in them but by the name of a key."""

_KEY_NAME: Final = re2.compile(rb"(?i)(?:" + NAME + rb"|cookie|authorization)$", options(captures=False))
_USER: Final = re.compile(r"[\w.@+-]+")
_FIELD: Final = "sensitive_field"
_FIELDS, _MEDIA = 0, 1
"""Which of the patterns without a rule are those of the sensitive fields and, for publishing, of images."""

_NAMED: Final = "password_value"
"""No class is a sensitive key: counts by class are published, and a sensitive key's value is a finding."""

_OWN_CLASSES: Final = (_FIELD, _NAMED, VALUE, USER, HOST, CLASS, media.CLASS)
_SHORT: Final = 64
"""Texts this short, mostly keys, come again and again: what was found in them is remembered."""

_LONG: Final = 1 << 14
"""Of longer texts up to this the last ones are remembered: what a tool gives, transcripts hold twice."""

_MANY: Final = 16
"""So many different tokens in one text are not counted one by one: its lines are joined."""


class Scanner:
    """Finds what one profile looks for; `sensitive_keys` add to the seven of the record contract §4."""

    def __init__(
        self,
        profile: Profile,
        sensitive_keys: Iterable[str] = (),
        ruleset: Ruleset | None = None,
        known: Known | None = None,
        engines: Iterable[Engine] = (),
    ) -> None:
        self.profile: Final = profile
        self.ruleset: Final = ruleset or packaged()
        self.sensitive_keys: Final = fields.SENSITIVE | {name.lower() for name in sensitive_keys}
        self._rules = self.ruleset.of(profile)
        self._fields = fields.FieldFinder(self.sensitive_keys)
        self.classes: Final = {rule.cls for rule in self.ruleset.rules}.union(GATE_CLASSES, _OWN_CLASSES)
        self.known: Final = known or Known()
        self._others = tuple(engines) if profile == "publish" else ()
        self._placeholder = re.compile(
            rf"\[REDACTED(?::(?:{'|'.join(sorted(self.classes))}):[0-9]{{1,9}})?\]|{fields.MARKER}"
        )
        more = (media.TRIGGER,) if profile == "publish" else ()
        self._triggers = Triggers(
            self._rules, (fields.trigger(self.sensitive_keys), *more, _ESCAPED_ASCII, *self.known.triggers())
        )
        self._simple = not self.known and not self._others
        self._short = lru_cache(maxsize=1 << 13)(self._find)
        self._last = lru_cache(maxsize=1 << 8)(self._find)

    def knowing(self, known: Known) -> Scanner:
        """Return a scanner like this one that also finds what is known: names for publishing only."""
        if self.profile == "import":
            known = Known(known.values)
        return Scanner(self.profile, self.sensitive_keys, self.ruleset, known, self._others)

    @property
    def engines(self) -> list[str]:
        """The engines that run, with versions, as reports name them."""
        return ["rules", *(f"{other.name} {other.version}" for other in self._others)]

    def may_match(self, encoded: bytes) -> bool:
        """Tell whether canonical JSON may hold a finding or a sensitive key; never False where it does.

        For the import profile only: the publish profile also looks inside base64, which no filter can.
        """
        return self._triggers.any(encoded)

    def is_sensitive(self, key: str) -> bool:
        """Tell whether the value of `key` is redacted whatever it is."""
        return fields.is_sensitive(key, self.sensitive_keys)

    def find(self, text: str, key: str = "", *, damaged: bool = False) -> list[Span]:
        """Return the findings in one text, left to right, without overlap.

        `key` is the name of the member that holds the text, which may make all of it a secret. `damaged`: the
        text is a broken line of JSON, so sensitive fields are looked for whatever their value is.
        """
        if self._simple and _IDENTIFIES.fullmatch(text) is not None and not (key and _names_secret(key)):
            return []
        if damaged or len(text) > _LONG:
            return self._find(text, key, damaged=damaged)
        found = (self._short if len(text) <= _SHORT else self._last)(text, key)
        return [*found] if found else []  # those that are remembered are not to be changed

    def _find(self, text: str, key: str, *, damaged: bool = False) -> list[Span]:
        masked = text
        if "REDACTED" in text:
            masked = self._placeholder.sub(lambda match: "\0" * len(match.group()), text)
        data = utf8(masked)
        hits = self._triggers(data)
        found = list(self._named(masked, key)) if key and _names_secret(key) else []
        if hits:
            found += run(_rules(hits), masked, data)
            if _FIELDS in hits:
                found += self._in_fields(masked, damaged)
        found += self._beside(masked, data, found)
        publish = self.profile == "publish"
        if publish and _MEDIA in hits:
            found += media.find(masked)
        if hits or publish:
            allowance = Allowance(len(masked))
            allowance.found(len(found))
            for view in views(masked, deep=publish, allowance=allowance, torn=self._torn, data=data):
                inside = self._in_view(view)
                allowance.found(len(inside))
                found += inside
        return settled(found, text) if found else found

    def _beside(self, text: str, data: bytes, found: list[Span]) -> list[Span]:
        """Return what no rule looks for: known values, what engines find, hits of the gate classes.

        Of the latter two only what shares nothing with what the rules `found`; placeholders are NULs, and no
        secrets.
        """
        more = self._known(text, data)
        if self._others:
            spans = (span for other in self._others for span in other.find(text) if "\0" not in span.value)
            more += uncovered([*found, *more], spans)
        if self.profile == "publish" and may_hit(data):
            high = [span for span in (*found, *more) if span.band == "high"]
            more += uncovered(high, _gates(text))
        return more

    def _known(self, text: str, data: bytes) -> list[Span]:
        if not self.known:
            return []
        found = list(self.known.find(data))
        places = characters(data, {offset for start, end, _ in found for offset in (start, end)})
        return [known_span(places[start], places[end], cls, text) for start, end, cls in found]

    def _torn(self, view: View, decoder: Decoder) -> bool:
        """Tell whether a text may hold tokens, decoded so, that it does not hold as it stands.

        It may, but for joined lines: most tokens stand on one, and for them no view and no way back is made.
        """
        if self.known or decoder.text is None:
            return True
        if not decoder.tears(view.data):
            return False
        text, joined = view.text, decoder.text(view.text)
        data = utf8(joined)
        hits = self._triggers.shapes(data)
        values = {span.value for span in run(_rules(hits), joined, data)} if hits else set[str]()
        return len(values) > _MANY or any(joined.count(value) > text.count(value) for value in values)

    def _named(self, text: str, key: str) -> Iterator[Span]:
        if leftover(text):
            return
        header = key.lower().endswith(("cookie", "authorization"))
        if plausible.header(text) if header else plausible.named(text, key, quoted=True):
            yield Span(0, len(text), "named_value", _NAMED, "high", text, vague=2)

    def _in_fields(self, text: str, damaged: bool) -> Iterator[Span]:
        for start, end, quote in self._fields.find(text, every=damaged):
            value = text[start:end]
            yield Span(start, end, _FIELD, _FIELD, "high", value, vague=1, quote=quote)

    def _in_view(self, view: View) -> list[Span]:
        pieces = view.way in ("joined", "concatenated")
        hits = self._triggers.shapes(view.data) if pieces else self._triggers(view.data)
        found = run(_rules(hits), view.text, view.data)
        found += self._known(view.text, view.data) if pieces else self._beside(view.text, view.data, found)
        out: list[Span] = []
        for span in found:
            if pieces and not view.torn(span.start, span.end):
                continue
            if span.cls == HOME and span.value == HOME_NAME:
                continue  # redacted; that its separator is missing matters to the gate, which sees no views
            start, end = view.place(span.start, span.end)
            blob = view.blobs and end - start != span.end - span.start
            out.append(span._replace(start=start, end=end, view=view.name, blob=blob))
        return out


@lru_cache(maxsize=1 << 12)
def _names_secret(key: str) -> bool:
    return _KEY_NAME.search(utf8(key)) is not None


def _rules(hits: list[Rule | int]) -> list[Rule]:
    return [hit for hit in hits if isinstance(hit, Rule)]


def _gates(text: str) -> Iterator[Span]:
    """Yield the hits of the eight gate classes (record contract §8)."""
    for hit in find_hits(text):
        start, end = _narrowed(hit, text)
        yield Span(start, end, f"gate_{hit.cls}", hit.cls, "high", text[start:end], vague=2)


def _narrowed(hit: GateHit, text: str) -> tuple[int, int]:
    """Return the part of a gate hit whose replacement undoes the hit and leaves most of the text."""
    start, end = hit.start, hit.end
    if hit.cls == HOME:
        start = text.index("\\Users\\", start) + 7 if hit.pivot is None else hit.pivot + 1
        name = _USER.match(text, start, end)
        return start, name.end() if name else end
    if hit.cls == "url_query_secret":
        return start + 1, end
    if hit.cls == "bearer":
        return end - len(text[start:end].rsplit(maxsplit=1)[-1]), end
    return start, end
