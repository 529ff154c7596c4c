import hashlib
import json
import random
from pathlib import Path

import pytest

from geode_traj.codec import pointer
from geode_traj.scan.engine import Scanner
from tests.bench.secrets import corpus, examples, held, hostile, ours, peers
from tests.bench.secrets.contexts import CONTEXTS, STRUCTURES
from tests.bench.secrets.corpus import Corpus, Part, Plant
from tests.bench.secrets.forms import FORMS, WHOLE
from tests.bench.secrets.kinds import kinds
from tests.bench.secrets.mnemonic import phrase
from tests.bench.secrets.people import PERSONAL
from tests.bench.secrets.score import Found, score
from tests.bench.secrets.shapes import draw

SMALL = corpus.planted(100_000, 1)


def test_is_the_same_for_a_seed() -> None:
    assert corpus.planted(100_000, 1).data == SMALL.data
    assert corpus.planted(100_000, 1, seed=2).data != SMALL.data
    assert (
        hashlib.sha256(corpus.clean(20_000).data).digest()
        == hashlib.sha256(corpus.clean(20_000).data).digest()
    )


def test_has_every_kind_and_every_form() -> None:
    assert {plant.form for plant in SMALL.plants} == {"", *FORMS, *WHOLE}
    assert {plant.kind for plant in SMALL.plants if not plant.form} == {kind.name for kind in kinds()}
    assert len(kinds()) >= 75
    assert len(FORMS | WHOLE) >= 30


def test_secrets_are_where_they_are_said_to_be() -> None:
    for plant in SMALL.plants:
        for part in plant.parts:
            value = json.loads(SMALL.lines[part.line - 1])
            for step in pointer.split(part.pointer.rstrip("/")):
                value = value[int(step)] if isinstance(value, list) else value[step]
            told = next(iter(value)) if part.in_key else value
            assert told[part.start : part.end] == part.text, (plant.kind, plant.form)
        if not plant.form:
            assert plant.secret == plant.parts[0].text


def test_places_kept_apart_are_others() -> None:
    known = {*CONTEXTS, *(text for _, some in STRUCTURES.values() for text in some)}
    assert known.isdisjoint((*held.CONTEXTS, *(text for some in held.STRUCTURES.values() for text in some)))
    assert set(held.STRUCTURES) <= set(STRUCTURES)
    assert {plant.form for plant in corpus.held(0, 1).plants} == {""}


def test_every_place_has_one_slot() -> None:
    places = [*CONTEXTS, *(text for _, some in (*STRUCTURES.values(), *PERSONAL.values()) for text in some)]
    places += [*held.CONTEXTS, *(text for some in held.STRUCTURES.values() for text in some)]
    assert [text for text in places if text.count("§") != 1] == []


def test_stores_nothing_that_looks_like_a_secret() -> None:
    folder = Path(corpus.__file__).parent
    scanner = Scanner("publish")
    found = [
        span.value
        for path in sorted(folder.glob("*.*"))
        for span in scanner.find(path.read_text())
        if span.cls not in ours.PERSONAL
    ]
    assert [value for value in found if len(value) > 10 and "§" not in value] == []


def test_personal_classes_are_classes() -> None:
    assert Scanner("publish").classes >= ours.PERSONAL


@pytest.mark.parametrize("shape", ["ab<h8>", "<uuid>", "<crc>", "<pass>", "<json9>.<alg>", "4<luhn15>"])
def test_shapes_are_drawn_anew(shape: str) -> None:
    rng = random.Random(1)
    first, second = draw(shape, rng), draw(shape, rng)
    assert first != second
    assert "<" not in first


def test_phrases_have_their_checksum() -> None:
    words = [phrase(random.Random(seed)).split() for seed in range(20)]
    assert {len(some) for some in words} == {12}
    assert len({tuple(some) for some in words}) == 20


def test_hostile_lines_are_of_one_size() -> None:
    assert len(hostile.lines()) >= 60
    assert all(len(text.encode("utf-8", "surrogatepass")) > 40_000 for text in hostile.lines().values())


PART = Part(1, "/a", 4, 12, "s3cr3tXY")
ONE = Corpus(
    [b'{"a":"is: s3cr3tXY."}\n'], [["is: s3cr3tXY."]], [Plant("k", "vendor", "", "s3cr3tXY", (PART,))]
)


@pytest.mark.parametrize(
    ("found", "met", "whole", "false"),
    [
        ([Found(1, "r", pointer="/a", span=(4, 12))], 1, 1, 0),
        ([Found(1, "r", pointer="/a", span=(4, 6))], 1, 0, 0),
        ([Found(1, "r", pointer="/a", span=(4, 6)), Found(1, "r", pointer="/a", span=(6, 13))], 1, 1, 0),
        ([Found(1, "r", pointer="/a", span=(0, 4))], 0, 0, 1),
        ([Found(1, "r", pointer="/b", span=(4, 12))], 0, 0, 1),
        ([Found(1, "r", "s3cr3tXY")], 1, 1, 0),
        ([Found(1, "r", 'is: s3cr3tXY."')], 1, 1, 0),
        ([Found(1, "r", "s3c")], 1, 0, 0),
        ([Found(1, "r", "other")], 0, 0, 1),
        ([Found(2, "r", "s3cr3tXY")], 0, 0, 1),
        ([Found(1, "r", "other"), Found(1, "r", "other")], 0, 0, 1),
        ([], 0, 0, 0),
    ],
)
def test_scores_findings(found: list[Found], met: int, whole: int, false: int) -> None:
    result = score(ONE, found)
    key = ("k", "vendor", "")
    assert (result.met[key], result.whole[key], len(result.false)) == (met, whole, false)
    assert result.share() == 100 * met


def test_reads_plain_literals_of_go_lists() -> None:
    text = """
        tps := utils.GenerateSampleSecrets("x", "y")
        tps = append(tps,
            "one", `two "2"`, // a "remark"
            "head" + secrets.NewSecret("z"),
        )
        fps := []string{
            "three\\n",
            fmt.Sprintf("%s, %s", "no", "no"),
            "four, 4",
        }
    """
    assert list(examples._go(text)) == [
        ("tps", "one"),
        ("tps", 'two "2"'),
        ("fps", "three\n"),
        ("fps", "four, 4"),
    ]


def test_a_failing_tool_is_absent_with_its_reason() -> None:
    with pytest.raises(peers.AbsentError, match="no such thing"):
        peers._call(["/bin/sh", "-c", "echo 'no such thing' >&2; exit 3"])
