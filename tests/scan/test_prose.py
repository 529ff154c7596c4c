from __future__ import annotations

from collections.abc import Iterable

import pytest

from geode_traj.scan.numbering import Numbering
from geode_traj.scan.prose import names_in_prose


class Fake:
    def entities(self, text: str) -> Iterable[tuple[int, int, str]]:
        at = text.find("Ottoline Frost")
        return [(at, at + 14, "person"), (0, 10**9, "person")] if at >= 0 else []


@pytest.mark.parametrize("kind", ["message.user", "message.assistant"])
def test_names_in_messages_are_questions(kind: str) -> None:
    payload = {"content": [{"type": "text", "text": "ask Ottoline Frost"}], "tool": "Ottoline Frost"}
    (found,) = names_in_prose(kind, payload, Fake(), Numbering(b"k").number)
    assert (found.rule, found.cls, found.band) == ("prose_name", "person_name", "review")
    assert (found.pointer, found.span) == ("/content/0/text", (4, 18))


def test_output_of_tools_is_not_read() -> None:
    assert list(names_in_prose("tool.completed", {"content": "Ottoline Frost"}, Fake(), lambda *_: 1)) == []
