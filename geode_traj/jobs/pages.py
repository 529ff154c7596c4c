"""The pages behind `checks` and `explain`, gathered from where the codes live."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from geode_traj import __version__
from geode_traj.attest.allowed_signers import FINDINGS as KEYRING_FINDINGS
from geode_traj.errors import CODES
from geode_traj.model.page import Page
from geode_traj.model.report import Report
from geode_traj.release.check.registry import all_checks as release_checks
from geode_traj.scan.pages import pages as rule_pages
from geode_traj.verify.registry import all_checks
from geode_traj.verify.result import RULESET

EXAMPLES: Final = Path(__file__).with_name("examples.json")
"""Excerpts of vectors that fail, by code; `scripts/generate-examples` writes it."""
LISTING: Final = "geode-traj.checks@1"
_REQUIRED: Final = {
    "GT001": "The file is not complete in the way that --require asked for.",
    "GT002": "Ids were derived while exporting, and --require-native-ids asked for none.",
}


@cache
def all_pages() -> dict[str, Page]:
    """Return every page by its code in capitals.

    Checks of trajectories, of releases, of keyrings, then errors and the rules of scans.
    """
    examples: dict[str, str] = json.loads(EXAMPLES.read_text("utf-8"))
    pages = [Page(code, "error", text, since="1") for code, text in _REQUIRED.items()]
    pages += [
        Page(
            *(c.code, c.severity, _dedented(c.page), c.hint),
            since=getattr(c, "since", "1"),
            example=examples.get(c.code, ""),
        )
        for c in all_checks().values()
    ]
    pages += [Page(c.code, c.severity, _dedented(c.page), c.hint) for c in release_checks().values()]
    pages += [Page(code, *row) for code, row in sorted(KEYRING_FINDINGS.items())]
    pages += [
        Page(code, f"exit {row.exit_code}", row.template, row.hint, is_finding=False)
        for code, row in sorted(CODES.items())
    ]
    pages += [Page(*rule, is_finding=False) for rule in rule_pages()]
    return {page.code.upper(): page for page in pages}


def listing() -> dict[str, Any]:
    """Return the checks and findings as `geode-traj.checks@1`."""
    checks = [
        {
            "code": page.code,
            "severity": page.severity,
            "since": page.since or None,
            "title": page.title,
            "page": page.text,
            "hint": page.hint,
            **({"example": page.example} if page.example else {}),
        }
        for page in all_pages().values()
        if page.is_finding
    ]
    head = {"schema_id": LISTING, "tool_version": __version__, "ruleset": RULESET}
    return {**head, "checks": checks}


def explained(report: Report) -> Report:
    """Return the report with the pages of the codes that it holds."""
    pages = all_pages()
    codes = {found.code for entry in report.entries for found in entry.findings}
    return replace(report, pages={code: pages[code.upper()] for code in codes if code.upper() in pages})


def _dedented(page: str) -> str:
    return "\n".join(line.strip() for line in page.splitlines())
