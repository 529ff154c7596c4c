"""What a code means: the page behind a finding or an error."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Page:
    """What a code means; `severity` is error, warning or note, a rule's band, or `exit N` for an error.

    `is_finding`: it is a check's or another finding's; there are too many rules to list them beside those.
    `since`: the ruleset that it came with, if any. `example`: lines that fail, and the finding.
    """

    code: str
    severity: str
    text: str
    hint: str = ""
    is_finding: bool = True
    since: str = ""
    example: str = ""

    @property
    def title(self) -> str:
        """The page's first line."""
        return self.text.split("\n", 1)[0]
