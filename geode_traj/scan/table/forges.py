"""Tokens of code hosts, package registries and build services."""

from __future__ import annotations

from geode_traj.scan import checksums
from geode_traj.scan.rules import Rule, token

WORD = rb"[A-Za-z0-9]"
UNDER = rb"[A-Za-z0-9_]"
DASH = rb"[A-Za-z0-9_-]"
HEX = rb"[0-9a-f]"

RULES: tuple[Rule, ...] = (
    token(
        "github_token",
        rb"gh[opsu]_",
        UNDER,
        20,
        "gh",
        "p_",
        "a1B2" * 9,
        edge=b"",
        sure=checksums.crc_token,
        misses=(("gh", "p_", "<token>"), ("gh", "p_", "xxxx"), ("high", "s_", "and_lows")),
    ),
    token(
        "github_refresh_token",
        rb"ghr_",
        UNDER,
        20,
        "gh",
        "r_",
        "a1B2" * 9,
        cls="github_token",
        sure=checksums.crc_token,
        misses=(("gh", "r_", "x" * 36),),
    ),
    token(
        "github_fine_token", rb"github_pat_", UNDER, 22, "github", "_pat_", "a1B2" * 20, cls="github_token"
    ),
    token(
        "gitlab_token",
        rb"gl(?:pat|dt|rt|rtr|cbt|ptt|ft|imt|agent|oas|soat|ffct|wt)-",
        rb"[A-Za-z0-9_.-]",
        20,
        "gl",
        "pat-",
        "a1B2" * 5,
    ),
    token("bitbucket_token", rb"ATBB", rb"[A-Za-z0-9_=.-]", 24, "AT", "BB", "a1B2" * 8),
    token("atlassian_token", rb"AT(?:ATT|CTT)3[a-zA-Z]", rb"[A-Za-z0-9_=-]", 50, "ATA", "TT3x", "a1B2" * 46),
    token("bitbucket_server_token", rb"BBDC-", rb"[A-Za-z0-9+/@_-]", 40, "BB", "DC-", "a1B2" * 11),
    token("gitlab_runner_token", rb"GR1348941", DASH, 20, "GR13", "48941", "a1B2" * 5, cls="gitlab_token"),
    token("npm_token", rb"npm_", WORD, 30, "np", "m_", "a1B2" * 9, sure=checksums.crc_token),
    token("pypi_token", rb"pypi-AgE", DASH, 50, "py", "pi-", "AgE", "a1B2" * 20),
    token("rubygems_key", rb"rubygems_", HEX, 48, "ruby", "gems_", "a1b2" * 12),
    token("crates_token", rb"cio", WORD, 32, "ci", "o", "a1B2" * 8),
    token("nuget_key", rb"oy2", rb"[a-z0-9]", 43, "oy", "2", "a1b2" * 10 + "abc"),
    token("docker_token", rb"dckr_(?:pat|oat)_", DASH, 20, "dckr", "_pat_", "a1B2" * 7),
    token("clojars_token", rb"CLOJARS_", rb"[a-z0-9]", 60, "CLO", "JARS_", "a1b2" * 15),
    token("artifactory_reference", rb"cmVmd", WORD, 59, "cm", "Vmd", "a1B2" * 15, cls="artifactory_key"),
    token("artifactory_key", rb"AKCp", WORD, 60, "AK", "Cp", "a1B2" * 17),
    token(
        "terraform_token",
        rb"[A-Za-z0-9]{14}\.atlasv1\.",
        rb"[A-Za-z0-9_=-]",
        60,
        "a1B2" * 3 + "ab",
        ".atlas",
        "v1.",
        "a1B2" * 16,
        trigger=rb"\.atlasv1\.",
    ),
    token("buildkite_token", rb"bk(?:ua|at|pt|ct)_", HEX, 40, "bk", "ua_", "a1b2" * 10),
    token("circleci_token", rb"CCIP(?:AT|RJ)_", UNDER, 40, "CCI", "PAT_", "a1B2" * 12),
    token("sonar_token", rb"sq[upa]_", HEX, 40, "sq", "p_", "a1b2" * 10),
    token(
        "sourcegraph_token",
        rb"sgp_(?:(?:[0-9a-fA-F]{16}|local)_)?",
        rb"[0-9a-fA-F]",
        40,
        "sg",
        "p_",
        "a1b2" * 10,
    ),
    token("postman_key", rb"PMAK-", rb"[0-9a-f-]", 50, "PM", "AK-", "a1b2" * 6, "-", "a1b2" * 8 + "ab"),
    token("readme_key", rb"rdme_", rb"[a-z0-9]", 60, "rd", "me_", "a1b2" * 17),
)
