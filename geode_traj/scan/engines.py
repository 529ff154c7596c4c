"""Other scanners beside the rules, each of an optional extra; what runs is named in the report.

An engine takes one text and gives spans of it. Nothing in a text may steer it: no pragma comments, no
guesses at what is only a reference, no verdict of its own about what to leave out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final, NamedTuple, Protocol

import re2

from geode_traj.scan import plausible
from geode_traj.scan.matching import Span
from geode_traj.scan.rules import options
from geode_traj.scan.views.trail import replaced

CLASS: Final = "other_secret"
NAMES: Final = ("detect_secrets", "kingfisher")

_WINDOW: Final = 1000
_OVERLAP: Final = 250
_BLANK = re.compile(r"[ \t\v\f]{9,}")
_TOKEN = re.compile(r"[A-Za-z0-9_.+/=~%-]*")
_PLUGINS: Final = (
    "artifactory.ArtifactoryDetector aws.AWSKeyDetector azure_storage_key.AzureStorageKeyDetector "
    "basic_auth.BasicAuthDetector cloudant.CloudantDetector discord.DiscordBotTokenDetector "
    "github_token.GitHubTokenDetector gitlab_token.GitLabTokenDetector ibm_cloud_iam.IbmCloudIamDetector "
    "ibm_cos_hmac.IbmCosHmacDetector keyword.KeywordDetector mailchimp.MailchimpDetector "
    "npm.NpmDetector openai.OpenAIDetector pypi_token.PypiTokenDetector sendgrid.SendGridDetector "
    "slack.SlackDetector softlayer.SoftlayerDetector square_oauth.SquareOAuthDetector "
    "stripe.StripeDetector telegram_token.TelegramBotTokenDetector twilio.TwilioKeyDetector".split()
)
"""Without entropy, which is noise, and what our rules do as well: keys in PEM, web tokens, addresses."""


class Engine(Protocol):
    """A scanner beside the rules: its name and version, and what it finds in one text."""

    @property
    def name(self) -> str:
        """The name, which is also that of its rule."""

    @property
    def version(self) -> str:
        """The version, as reports name it."""

    def find(self, text: str) -> Iterator[Span]:
        """Yield findings in `text`, in any order; they may overlap."""


class _Plugin(NamedTuple):
    """One detector: what it finds in a line, and a necessary condition over ASCII lines (None: always)."""

    name: str
    analyze: Callable[[str], Iterator[str]]
    condition: bytes | None


class DetectSecrets:
    """The detectors of detect-secrets, line by line, without its settings, filters, hashes or network.

    Its patterns are not linear: blanks are folded and lines cut into windows, and whoever calls this gives it
    a process of its own that has its time.
    """

    name: Final = "detect_secrets"

    def __init__(self, *, prefilter: bool = True) -> None:
        self.version: Final = version("detect-secrets")
        self._plugins = _plugins()
        self._prefilter = prefilter
        self._set = re2.Set.SearchSet(options(captures=False))
        self._filtered = [plugin for plugin in self._plugins if plugin.condition is not None]
        self._always = [plugin for plugin in self._plugins if plugin.condition is None]
        for plugin in self._filtered:
            self._set.Add(plugin.condition)
        self._set.Compile()

    def find(self, text: str) -> Iterator[Span]:
        """Yield each occurrence of what a detector names, widened to the token around it."""
        start = 0
        for line in text.splitlines(keepends=True):
            for at in range(0, max(1, len(line) - _OVERLAP), _WINDOW - _OVERLAP):
                yield from self._window(line[at : at + _WINDOW], start + at, text)
            start += len(line)

    def values(self, line: str) -> set[tuple[str, str]]:
        """Return (detector, value) of all that is found in one line, as long as it may be."""
        return {(plugin.name, value) for plugin in self._chosen(line) for value in plugin.analyze(line)}

    def _chosen(self, line: str) -> Sequence[_Plugin]:
        # In other lines `\w`, `\s`, `\d` and the case of letters mean more to Python than to re2.
        if not self._prefilter or not line.isascii():
            return self._plugins
        hits = self._set.Match(line.encode()) or ()
        return [*(self._filtered[index] for index in sorted(hits)), *self._always]

    def _window(self, window: str, offset: int, text: str) -> Iterator[Span]:
        folded, trail = replaced(window, _BLANK, lambda match: ("        ", 0))
        for name, value in self.values(folded.rstrip("\r\n")):
            if not value or (name == "keyword" and not plausible.spoken(value, "")):
                continue
            at = folded.find(value)
            while at >= 0:
                start, end = offset + trail.start(at), offset + trail.end(at + len(value))
                if name != "keyword":
                    start, end = _token_around(text, start, end)
                yield Span(start, end, self.name, CLASS, "review", text[start:end], vague=2)
                at = folded.find(value, at + len(value))


class Kingfisher:
    """kingfisher, in this process, without validation: it never uses the network."""

    name: Final = "kingfisher"

    def __init__(self) -> None:
        sdk = import_module("kingfisher_sdk")
        self.version: Final = version("kingfisher-secret-scanner")
        policy = sdk.DetectionPolicy(inline_ignores=False, markup_context=False, base64_max_depth=0)
        self._scanner = sdk.Scanner(sdk.Rules(), base64=False, policy=policy)

    def find(self, text: str) -> Iterator[Span]:
        """Yield each occurrence of what is named a secret."""
        data = text.encode("utf-8", "replace")
        for value in {finding.secret for finding in self._scanner.scan(data)} - {""}:
            at = text.find(value)
            while at >= 0:
                yield Span(at, at + len(value), self.name, CLASS, "review", value, vague=2)
                at = text.find(value, at + len(value))


def available() -> tuple[str, ...]:
    """Return the names of the engines whose extra is installed."""
    packages = {"detect_secrets": "detect-secrets", "kingfisher": "kingfisher-secret-scanner"}
    return tuple(name for name in NAMES if _installed(packages[name]))


@cache
def engine(name: str) -> Engine:
    """Return an installed engine by name; one of each in a process."""
    return DetectSecrets() if name == "detect_secrets" else Kingfisher()


def _installed(package: str) -> bool:
    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True


def _token_around(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the maximal token around a span: a detector often names only a part of it."""
    before = _TOKEN.match(text[max(0, start - _WINDOW) : start][::-1])
    after = _TOKEN.match(text, end)
    return start - (before.end() if before else 0), after.end() if after else end


def _plugins() -> list[_Plugin]:
    found = []
    for path in _PLUGINS:
        module, _, cls = path.partition(".")
        detector = getattr(import_module(f"detect_secrets.plugins.{module}"), cls)()
        found.append(_Plugin(module, detector.analyze_string, _condition(module, detector)))
    return found


def _condition(module: str, detector: Any) -> bytes | None:
    """Return what every ASCII line matches in which the detector finds anything; None if unknown."""
    if module == "keyword":
        words = import_module("detect_secrets.plugins.keyword").DENYLIST
        return b"(?i)" + b"|".join(word.encode() for word in words if word.isascii())
    parts = []
    for pattern in detector.denylist:
        part = f"(?i:{pattern.pattern})" if pattern.flags & re.IGNORECASE else f"(?:{pattern.pattern})"
        if pattern.flags & re.VERBOSE:
            return None
        try:
            re2.compile(part.encode(), options(captures=False))
        except re2.error:
            return None
        parts.append(part.encode())
    return b"|".join(parts)
