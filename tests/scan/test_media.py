from __future__ import annotations

import base64
from io import BytesIO

import pytest
from PIL import Image
from planted import find

from geode_traj.scan import media
from geode_traj.scan.engine import Scanner
from geode_traj.scan.numbering import Numbering
from geode_traj.scan.redact import Redactor


def image(form: str, *, place: bool) -> str:
    picture = Image.new("RGB", (40, 30), (200, 30, 60))
    exif = Image.Exif()
    if place:
        exif[0x010F] = "Demo Camera"
        exif.get_ifd(0x8825)[1] = "N"
    out = BytesIO()
    picture.save(out, form, **({"exif": exif} if place else {}))
    return base64.b64encode(out.getvalue()).decode()


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP"])
def test_image_with_a_place_is_one_finding_and_goes_whole(form: str) -> None:
    blob = image(form, place=True)
    text = f"![x](data:image/x;base64,{blob})"
    (span,) = [span for span in find(text, "publish") if span.rule == "image_metadata"]
    assert text[span.start : span.end] == blob
    new, _ = Redactor(Scanner("publish"), Numbering(b"k").number).redact_text(text)
    assert new == "![x](data:image/x;base64,[REDACTED:image_metadata:1])"
    assert find(text, "import") == []


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
