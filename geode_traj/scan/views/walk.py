"""All views of a text, each once, within bounds.

One look at the bytes tells which decoders can have anything to do; for most texts none has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from geode_traj.contract.gate_filter import Look
from geode_traj.scan.views import encoded, escapes, layout
from geode_traj.scan.views.encoded import Reader
from geode_traj.scan.views.trail import Trail, View, Way

MAX_DEPTH: Final = 4
_TIMES: Final = 12
_LEAST: Final = 1 << 19
_FINDING: Final = 512


class Allowance:
    """What may be spent on the views of one text, in characters: so many times its own, or a least amount.

    Findings cost too, since each is met again in every view: a line that is full of them has fewer views.
    """

    def __init__(self, length: int) -> None:
        self.left = max(_TIMES * length, _LEAST)

    def found(self, count: int) -> None:
        """Spend what so many findings cost."""
        self.left -= count * _FINDING


class Decoder(NamedTuple):
    """A way to decode: `trigger` matches the UTF-8 bytes of every text that it changes.

    `sure` is asked next, where the trigger says too much: one automaton for both takes too many states.
    `text` gives the decoded text alone, which takes less time, and `tears` tells of the bytes whether that
    may hold anything that the text does not.
    """

    name: str
    trigger: bytes
    decode: Callable[[str, Reader], tuple[str, Trail]]
    way: Way = "plain"
    text: Callable[[str], str] | None = None
    sure: Callable[[bytes], object] = bool
    tears: Callable[[bytes], object] = bool


def _alone(decode: Callable[[str], tuple[str, Trail]]) -> Callable[[str, Reader], tuple[str, Trail]]:
    return lambda text, _: decode(text)


_JSON: Final = Decoder("json", rb"""\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})""", _alone(escapes.json_escapes))
_UNSEEN: Final = (
    rb"[\x08\x1b]|(?:^|[^\x00])\x00(?:[^\x00]|$)|\xc2[\x9b\xad]|\xcd\x8f|\xd8\x9c|\xe1(?:\x85[\x9f\xa0]|\x9e[\xb4\xb5]|\xa0\x8e)"
    rb"|\xe2(?:\x80[\x8b-\x8f\xaa-\xae]|\x81[\xa0-\xaf])|\xef(?:\xb8[\x80-\x8f]|\xbb\xbf)"
)
_LINE: Final = rb"[A-Za-z0-9_./+=-]\\?\r?\n[ \t]*"
_QUOTES: Final = (b"'", b'"', b"`")
DECODERS: Final = (
    _JSON,
    Decoder("unseen", _UNSEEN, _alone(escapes.unseen)),
    Decoder("percent", rb"%[0-9A-Fa-f]{2}", _alone(escapes.percent)),
    Decoder("base64", rb"[A-Za-z0-9+/_-]{16}", encoded.base64_text, "blob", sure=encoded.BASE64_BEGINS),
    Decoder(
        "joined",
        _LINE + rb"[A-Za-z0-9_./+=-]",
        _alone(layout.joined),
        "joined",
        layout.joined_text,
        tears=layout.JOINED_TORN,
    ),
    Decoder("entities", rb"&(?:#|[A-Za-z0-9]+;)", _alone(escapes.entities)),
    Decoder(
        "unprefixed",
        _LINE + rb"(?:[+>|#*;-]|//|\xe2"
        rb"|\[?[0-9\x80-\xff]{4}[/-][0-9\x80-\xff]+[/-][0-9\x80-\xff]+[T ]"
        rb"|[A-Z][a-z]{2} [ 0-9\x80-\xff]+ [0-9\x80-\xff]+:|\[[A-Za-z]+\]"
        rb"|[0-9A-Za-z_./\x80-\xff-]+(?:[ \t]+(?:\||\xe2)|[:-][0-9\x80-\xff]+[:-])"
        rb"|[0-9\x80-\xff]+(?:[ \t]?[|:\xe2]|\t))",
        _alone(layout.unprefixed),
        "joined",
        layout.unprefixed_text,
        tears=layout.UNPREFIXED_TORN,
    ),
    Decoder(
        "concatenated",
        b"|".join(
            quote + rb"[ \t]*(?:(?:\\?\r?\n|[+.&~]|\|\||<<)[ \t\r\n]*)+[bBrRuUfF]?" + quote
            for quote in _QUOTES
        )
        + rb"""|'"|"'""",
        _alone(layout.concatenated),
        "concatenated",
    ),
    Decoder("hex", encoded.HEX, encoded.hex_text, "blob"),
    Decoder("bytes", rb"[0-9]{2,3}(?:,[ \t\r\n]*[0-9]{1,3}){11}", encoded.listed_bytes, "blob"),
    Decoder("hexdump", rb"[0-9A-Fa-f]{4}[: \t][ \t]*[0-9A-Fa-f]{2,4}[ \t]", encoded.dumped, "blob"),
    Decoder("c-escapes", rb"\\(?:x[0-7]|[01][0-7]{2}|e)", _alone(escapes.c_escapes)),
    Decoder("quoted-printable", rb"=3D|=\r?\n", _alone(escapes.quoted_printable)),
)


def views(
    text: str,
    *,
    deep: bool,
    allowance: Allowance | None = None,
    torn: Callable[[View, Decoder], object] = lambda view, decoder: True,
    data: bytes | None = None,
) -> Iterator[View]:
    """Return the views of `text`: JSON escapes always; when `deep`, every decoder, on what others gave too.

    `torn` tells whether a text holds anything that is torn by what a decoder takes out. `data` is the UTF-8
    of `text`.
    """
    data = utf8(text) if data is None else data
    first = applicable(data) if deep else [_JSON]
    if not first:  # as most often
        return iter(())
    whole = View("", text, data, ())
    return _deep_views(whole, first, allowance or Allowance(len(text)), torn) if deep else _json_views(whole)


def _deep_views(
    whole: View, first: list[Decoder], allowance: Allowance, torn: Callable[[View, Decoder], object]
) -> Iterator[View]:
    seen = {whole.text}
    reader = Reader()
    level = [whole]
    for _ in range(MAX_DEPTH):
        deeper: list[View] = []
        for view in level:
            for decoder in first if view is whole else applicable(view.data):
                if allowance.left <= 0:
                    return
                if not torn(view, decoder):
                    continue
                allowance.left -= len(view.text)
                made = _apply(decoder, view, reader)
                if made is not None and made.text not in seen:
                    seen.add(made.text)
                    if made.way in ("plain", "blob"):
                        deeper.append(made)  # what was torn is whole now: nothing is left to find in it
                    yield made
        level = deeper


def _json_views(whole: View) -> Iterator[View]:
    reader = Reader()
    view: View | None = whole
    for _ in range(MAX_DEPTH):
        if view is None or "\\" not in view.text:
            return
        view = _apply(_JSON, view, reader)
        if view is not None:
            yield view


def _apply(decoder: Decoder, view: View, reader: Reader) -> View | None:
    text, trail = decoder.decode(view.text, reader)
    if not len(trail):
        return None
    name = f"{view.name}/{decoder.name}" if view.name else decoder.name
    blobs = view.blobs or decoder.way == "blob"
    return View(name, text, utf8(text), (trail, *view.trails), blobs, decoder.way)


def applicable(data: bytes) -> list[Decoder]:
    """Return the decoders that may have anything to do in the text whose UTF-8 is `data`."""
    return [decoder for decoder in map(DECODERS.__getitem__, _LOOK(data)) if decoder.sure(data)]


def utf8(text: str) -> bytes:
    """Return the UTF-8 of `text`, surrogates passed."""
    return text.encode("utf-8", "surrogatepass")


_LOOK: Final = Look(*(decoder.trigger for decoder in DECODERS))
