from __future__ import annotations

import base64
import sys
from io import BytesIO

import pytest
from PIL import Image
from planted import GITHUB, find
from test_scan_redact import at

from geode_traj.scan import media
from geode_traj.scan.engine import Scanner
from geode_traj.scan.listed import Listed
from geode_traj.scan.numbering import Numbering
from geode_traj.scan.redact import Redaction, Redactor


def image(form: str, *, place: bool) -> str:
    picture = Image.new("RGB", (40, 30), (200, 30, 60))
    exif = Image.Exif()
    if place:
        exif[0x010F] = "Demo Camera"
        exif.get_ifd(0x8825)[1] = "N"
    out = BytesIO()
    picture.save(out, form, **({"exif": exif} if place else {}))
    return base64.b64encode(out.getvalue()).decode()


def redacted(value: object, listed: Listed | None = None) -> tuple[object, list[Redaction]]:
    return Redactor(Scanner("publish"), Numbering(b"k").number).redact(value, listed or Listed())


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP"])
def test_image_with_a_place_is_one_finding_and_goes_whole(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    blob = image(form, place=True)
    text = f"![x](data:image/x;base64,{blob})"
    (span,) = [span for span in find(text, "publish") if span.rule == "image_metadata"]
    assert text[span.start : span.end] == blob
    monkeypatch.setitem(sys.modules, "PIL", None)  # the extra is not installed
    assert redacted(text)[0] == "![x](data:image/x;base64,[REDACTED:image_metadata:1])"
    assert find(text, "import") == []


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP"])
def test_with_the_extra_the_picture_stays(form: str) -> None:
    value = {"a": [f"see {GITHUB} ![x](data:image/x;base64,{image(form, place=True)}) and {GITHUB}"]}
    new, done = redacted(value)
    clean = media.cleaned(image(form, place=True))
    mark = "[REDACTED:github_token:1]"
    assert new == {"a": [f"see {mark} ![x](data:image/x;base64,{clean}) and {mark}"]}
    assert [(at(new, one), one.cls, one.n) for one in done] == [
        (mark, "github_token", 1),
        (clean, "image_metadata", 0),
        (mark, "github_token", 1),
    ]
    assert redacted(value) == (new, done)
    listed = Listed(new, [one.to_json() for one in done])
    assert listed.rest == []
    again, same = redacted(new, listed)
    assert again == new and all(one.earlier for one in same) and len(same) == 3


def test_a_picture_is_believed_where_one_stands() -> None:
    bare, bad = image("PNG", place=False), image("PNG", place=True)
    entry = {"start": 0, "rule": "image_metadata", "class": "image_metadata", "n": 0}
    value = {"a": bare, "b": bad, "c": "x" * 200, "d": f"{bare} "}
    entries = [{**entry, "pointer": f"/{key}", "end": len(text)} for key, text in value.items()]
    assert Listed(value, entries).rest == entries[1:]
    assert Listed(value, [{**entries[0], "n": 1}]).rest


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP"])
def test_image_is_cleaned(form: str) -> None:
    clean = media.cleaned(image(form, place=True))
    assert clean is not None
    assert list(media.find(clean)) == []
    with Image.open(BytesIO(base64.b64decode(clean))) as picture:
        assert (picture.size, picture.format) == ((40, 30), form)


def test_bare_image_is_left_alone() -> None:
    for form in ("JPEG", "PNG", "WEBP"):
        assert list(media.find(image(form, place=False))) == []


@pytest.mark.parametrize("text", ["", "/9j/" + "A" * 400, "no image"])
def test_broken_image_cannot_be_cleaned(text: str) -> None:
    assert media.cleaned(text) is None


def test_a_picture_that_is_a_bomb_is_not_opened() -> None:
    out = BytesIO()
    exif = Image.Exif()
    exif[0x010F] = "Demo Camera"
    Image.new("1", (12_000, 12_000)).save(out, "PNG", exif=exif)
    text = base64.b64encode(out.getvalue()).decode()
    assert len(text) < 100_000 and len(list(media.find(text))) == 1
    assert media.cleaned(text) is None


def test_what_surrounds_a_picture_is_no_part_of_it() -> None:
    text = image("PNG", place=True)
    assert media.cleaned(text) and not media.cleaned(f" {text}") and not media.cleaned(f"{text} x")
