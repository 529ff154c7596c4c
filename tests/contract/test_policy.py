import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geode_traj.codec import schema
from geode_traj.contract import policy as policies
from geode_traj.contract.gates import GATE_CLASSES
from geode_traj.contract.policy import Policy, looser, packaged, read
from geode_traj.errors import WorldError

HEAD = 'schema_id = "geode-traj.policy@1"\nname = "own"\n'


def made(text=""):
    return read((HEAD + text).encode(), place="own.toml")


def test_the_strict_policy_names_every_setting():
    document = tomllib.loads(policies.source("strict").decode())
    assert schema.problems(policies.SCHEMA, document) == []
    names = schema.load(policies.SCHEMA)["properties"]
    for table in ("bands", "decisions", "coverage", "release", "content"):
        assert set(document[table]) == set(names[table]["properties"]), table
    strict = packaged()
    assert (strict.roles, strict.setting("release", "digests")) == (2, "keyed")
    assert {band: strict.treatment("r", "c", band) for band in policies.BANDS} == {
        "high": "redact",
        "review": "person",
        "note": "redact",
    }


@pytest.mark.parametrize("name", policies.names())
def test_a_policy_says_the_same_when_written_out(name):
    one = packaged(name)
    again = read(one.to_toml(), place="again.toml")
    assert again == one and again.digest == one.digest


def test_what_is_left_out_is_as_in_the_strict_one():
    assert looser(made(), packaged()) == [] and looser(packaged(), made()) == []


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("[bands]\nhigh = 'two'", "band high: two, not redact"),
        ("[bands]\nreview = 'keep'", "band review: keep, not person"),
        ("[classes]\nphone = 'keep'", "class phone: keep, not redact"),
        ("[rules]\nipv4_private = 'keep'", "rule ipv4_private: keep, not redact"),
        ("[decisions]\nunattended = 'redact'", 'decisions.unattended is "redact", not "ask"'),
        ("[release]\nroles = 1", "release.roles is 1, not 2"),
        ("[release]\ndigests = 'plain'", 'release.digests is "plain", not "keyed"'),
        (
            "[[allow]]\nrule = 'phone'\npointer = '/payload/x'\nreason = 'synthetic'",
            "an allowed finding of the rule phone",
        ),
    ],
)
def test_looser_says_where(text, where):
    assert looser(made(text), packaged())[0] == where
    assert looser(packaged(), made(text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "[bands]\nreview = 'redact'",
        "[bands]\nreview = 'two'",
        "[coverage]\nclean_percent = 100",
        "[release]\nreplay_complete = true",
        "[content]\nreasoning = 'drop'\nimages = 'drop'\nbodies = 'digest'",
        "[content]\ntimestamps = 'shift'\nsession_ids = 'pseudonym'",
    ],
)
def test_tightening_is_never_looser(text):
    assert looser(made(text), packaged()) == []
    assert looser(packaged(), made(text)) != []


@pytest.mark.parametrize("cls", sorted(GATE_CLASSES))
def test_the_gates_stand_in_every_policy(cls):
    lax = made(
        f"[bands]\nhigh = 'keep'\n[classes]\n{cls} = 'keep'\n"
        f"[[allow]]\nrule = 'any'\npointer = '/payload/x'\nreason = 'synthetic'"
    )
    assert lax.treatment("any", cls, "high") == "redact"
    assert lax.allowed("any", cls, "/payload/x", "") is None


def test_allowed_by_place_or_by_keyed_digest():
    one = made(
        "[[allow]]\nrule = 'phone'\npointer = '/payload/x'\nreason = 'synthetic'\n"
        f"[[allow]]\nrule = 'phone'\nvalue = '{'a' * 64}'\nreason = 'consent'"
    )
    assert one.allowed("phone", "phone", "/payload/x", "") == "synthetic"
    assert one.allowed("phone", "phone", "/payload/y", "a" * 64) == "consent"
    assert one.allowed("phone", "phone", "/payload/y", "b" * 64) is None
    assert one.allowed("other", "phone", "/payload/x", "a" * 64) is None


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"\xff", "utf-8"),
        (b"name = ", "Invalid value"),
        (b'schema_id = "geode-traj.policy@2"\nname = "a"', "schema_id"),
        (HEAD.encode() + b"[bands]\nhigh = 'maybe'", "/bands/high"),
        (HEAD.encode() + b"[bands]\nlow = 'redact'", "/bands"),
        (HEAD.encode() + b"[classes]\n'Odd Name' = 'keep'", "lower-case"),
        (HEAD.encode() + b"[coverage]\npercent = 101", "/coverage/percent"),
        (HEAD.encode() + b"[gates]\nemail = false", "is not valid"),
        (HEAD.encode() + b"[[allow]]\nrule = 'phone'\nreason = 'because'\npointer = '/x'", "reason"),
        (HEAD.encode() + b"[[allow]]\nrule = 'phone'\nreason = 'consent'", "a pointer or a value"),
        (b"a = " + b"[" * 5000 + b"]" * 5000, ""),
    ],
)
def test_what_is_no_policy_is_refused_with_its_place(data, why):
    with pytest.raises(WorldError) as refused:
        read(data, place="own.toml")
    assert refused.value.code == "TE103" and refused.value.place == "own.toml"
    assert why in refused.value.message


TREATMENT = st.sampled_from(policies.TREATMENTS)
NAMES = st.sampled_from(["phone", "ipv4", "user_name"])


@st.composite
def drawn(draw) -> Policy:
    tables = {
        "bands": draw(st.dictionaries(st.sampled_from(policies.BANDS), TREATMENT)),
        "classes": draw(st.dictionaries(NAMES, TREATMENT)),
        "rules": draw(st.dictionaries(NAMES, TREATMENT)),
        "release": {"roles": draw(st.sampled_from([1, 2]))},
        "coverage": {"percent": draw(st.integers(0, 100))},
    }
    lines = []
    for table, members in tables.items():
        lines.append(f"[{table}]")
        lines += [
            f"{key} = {value if isinstance(value, int) else repr(value)}" for key, value in members.items()
        ]
    return made("\n".join(lines))


@given(drawn(), drawn(), drawn())
def test_looser_is_an_order(one, two, three):
    assert looser(one, one) == []
    if looser(one, two) == [] and looser(two, three) == []:
        assert looser(one, three) == []
    if looser(one, two) == [] and looser(two, one) == []:
        for rule in ("phone", "ipv4", "user_name", "other"):
            for cls in ("phone", "ipv4", "user_name", "other"):
                for band in policies.BANDS:
                    assert one.treatment(rule, cls, band) == two.treatment(rule, cls, band)
