"""The pages behind `checks` and `explain`, gathered from where the codes live."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from geode_traj.attest.allowed_signers import FINDINGS as KEYRING_FINDINGS
from geode_traj.errors import CODES
from geode_traj.release.check.registry import all_checks as release_checks
from geode_traj.scan.pages import pages as rule_pages
from geode_traj.verify.registry import all_checks

_REQUIRED = {
    "GT001": "The file is not complete in the way that --require asked for.",
    "GT002": "Ids were derived while exporting, and --require-native-ids asked for none.",
}


@dataclass(frozen=True, slots=True)
class Page:
    """What a code means; `severity` is error, warning or note, a rule's band, or `exit N` for an error.

    `is_finding`: it is a check's or another finding's; there are too many rules to list them beside those.
    """

    code: str
    severity: str
    text: str
    hint: str = ""
    is_finding: bool = True

    @property
    def title(self) -> str:
        """The page's first line."""
        return self.text.split("\n", 1)[0]


@cache
def all_pages() -> dict[str, Page]:
    """Return every page by its code in capitals.

    Checks of trajectories, of releases, of keyrings, then errors and the rules of scans.
    """
    pages = [Page(code, "error", text) for code, text in _REQUIRED.items()]
    pages += [Page(c.code, c.severity, _dedented(c.page), c.hint) for c in all_checks().values()]
    pages += [Page(c.code, c.severity, _dedented(c.page), c.hint) for c in release_checks().values()]
    pages += [Page(code, *row) for code, row in sorted(KEYRING_FINDINGS.items())]
    pages += [
        Page(code, f"exit {row.exit_code}", row.template, row.hint, is_finding=False)
        for code, row in sorted(CODES.items())
    ]
    pages += [Page(*rule, is_finding=False) for rule in rule_pages()]
    return {page.code.upper(): page for page in pages}


def _dedented(page: str) -> str:
    return "\n".join(line.strip() for line in page.splitlines())
