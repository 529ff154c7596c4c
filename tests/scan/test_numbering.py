from __future__ import annotations

from geode_traj.scan.numbering import Numbering, NumberRow


def test_numbers_by_first_appearance_within_a_class() -> None:
    numbering = Numbering(b"key")
    given = [("email", "a"), ("email", "b"), ("jwt", "a"), ("email", "a"), ("jwt", "\ud800")]
    assert [numbering.number(*one) for one in given] == [1, 2, 1, 1, 2]


def test_state_goes_on_and_holds_no_value() -> None:
    numbering = Numbering(b"key")
    numbering.number("email", "demo@example.org")
    rows = list(numbering.rows())
    assert [type(row) for row in rows] == [NumberRow]
    assert "demo" not in repr(rows)
    again = Numbering(b"key", [tuple(row) for row in rows])  # type: ignore[misc]
    assert again.number("email", "other@example.org") == 2
    assert again.number("email", "demo@example.org") == 1
    assert list(again.rows())[:1] == rows


def test_rows_of_two_keys_share_nothing() -> None:
    macs = set()
    for key in (b"one", b"two"):
        numbering = Numbering(key)
        numbering.number("email", "a")
        numbering.number("jwt", "a")
        macs |= {row.mac for row in numbering.rows()}
    assert len(macs) == 4
    assert {len(mac) for mac in macs} == {64}
