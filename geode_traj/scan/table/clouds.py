"""Credentials of clouds, hosting, databases and secret stores."""

from __future__ import annotations

from geode_traj.scan import plausible
from geode_traj.scan.rules import CLOSERS, EDGE, GAP, Rule, token

WORD = rb"[A-Za-z0-9]"
UNDER = rb"[A-Za-z0-9_]"
DASH = rb"[A-Za-z0-9_-]"
HEX = rb"[0-9a-f]"

RULES: tuple[Rule, ...] = (
    token("aws_access_key", rb"(?:AKIA|ASIA|ABIA|ACCA)", rb"[A-Z0-9]", 16, "AK", "IA", "A1B2" * 4),
    token("aws_bedrock_key", rb"ABSK", rb"[A-Za-z0-9+/=]", 100, "AB", "SK", "a1B2" * 32, "="),
    token(
        "aws_bedrock_session",
        rb"bedrock-api-key-YmVkcm9jay5hbWF6b25hd3MuY29t",
        rb"[A-Za-z0-9+/=]",
        16,
        "bedrock-",
        "api-key-",
        "YmVkcm9jay5hbWF6b25hd3MuY29t" + "a1B2" * 8,
        cls="aws_bedrock_key",
    ),
    Rule(
        id="aws_secret",
        cls="aws_secret",
        pattern=rb"(?i)aws[ a-z0-9_.-]{0,20}(?:secret|sk)[ a-z0-9_.-]{0,20}(?:\[[^\]\r\n]{0,24}\])?"
        + CLOSERS
        + rb"""(?:=>|:=|=|:|[ \t])[ \t\\"']*([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+]|$)""",
        trigger=rb"(?i)aws(?: |[a-z0-9_.-]*)(?:secret|sk)",
        examples=(
            ("aws_secret_access_key = ", "a1B2/3cD" * 5, "\n"),
            ('"AWS_SECRET": "', "a1B2+3cD" * 5, '"'),
            ("AWS Secret Access Key [None]: ", "a1B2+3cD" * 5, "\n"),
        ),
        misses=(("aws_secret_access_key = ", "<your-secret>"),),
    ),
    token("google_oauth_token", rb"ya29\.", DASH, 20, "ya", "29.", "a1B2" * 20),
    token("google_client_secret", rb"GOCSPX-", DASH, 24, "GOC", "SPX-", "a1B2" * 7),
    token("google_refresh_token", rb"1//0", DASH, 30, "1/", "/0", "a1B2" * 15),
    Rule(
        id="azure_client_secret",
        cls="azure_client_secret",
        pattern=EDGE + rb"([A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34})(?:[^A-Za-z0-9_~-]|$)",
        trigger=rb"[0-9]Q~[A-Za-z0-9_~.-]{10}",
        examples=(("secret: ", "a1B", "8Q~", "a1B2" * 8 + "ab", "\n"),),
        misses=(("a1B8", "Q~" + "a1B2" * 9 + "a"),),
        accept=plausible.issued,
    ),
    Rule(
        id="azure_storage_key",
        cls="azure_storage_key",
        pattern=rb"(?i)(?:account|shared)(?:access)?key(?:name)?=([A-Za-z0-9+/]{40,}={0,2})",
        trigger=rb"(?i)(?:account|shared)(?:access)?key(?:name)?=",
        examples=(
            ("AccountName=demo;Account" + "Key=", "a1B2+/cD" * 10 + "a1B2==", ";EndpointSuffix=example.org"),
        ),
    ),
    token("digitalocean_token", rb"do[opr]_v1_", HEX, 60, "do", "p_v1_", "a1b2" * 16),
    token(
        "cloudflare_origin_key", rb"v1\.0-[0-9a-f]{24}-", HEX, 100, "v1.", "0-", "a1b2" * 6, "-", "a1b2" * 36
    ),
    token("heroku_key", rb"HRKU-", DASH, 36, "HR", "KU-", "a1b2" * 9),
    token(
        "fly_token",
        rb"(?:FlyV1 )?fm[12][a-z]?_",
        rb"[A-Za-z0-9+/=,_-]",
        100,
        "FlyV1 ",
        "fm2_",
        "a1B2" * 30,
        trigger=rb"fm[12][a-z]?_[\\A-Za-z0-9+/=,_-]{10}",
    ),
    token("vercel_token", rb"vc[pikra]_", WORD, 50, "vc", "p_", "a1B2" * 14),
    token(
        "vercel_blob_token",
        rb"vercel_blob_(?:rw|client)_[A-Za-z0-9]{8,24}_",
        WORD,
        24,
        "vercel_blob_",
        "rw_",
        "a1B2" * 4,
        "_",
        "a1B2" * 7,
        cls="vercel_token",
    ),
    token("netlify_token", rb"nf[pcoub]_", WORD, 36, "nf", "p_", "a1B2" * 9),
    token("render_key", rb"rnd_", WORD, 28, "rn", "d_", "a1B2" * 8),
    token("supabase_token", rb"sbp_", HEX, 40, "sb", "p_", "a1b2" * 10),
    token("supabase_secret", rb"sb_secret_", DASH, 31, "sb_", "secret_", "a1B2" * 8),
    token(
        "planetscale_token",
        rb"pscale_(?:tkn|pw|oauth)_",
        rb"[A-Za-z0-9_=.-]",
        32,
        "pscale",
        "_tkn_",
        "a1B2" * 10,
    ),
    token("neon_key", rb"napi_", rb"[a-z0-9]", 40, "na", "pi_", "a1b2" * 16),
    token("databricks_token", rb"dapi", HEX, 32, "da", "pi", "a1b2" * 8),
    token("vault_token", rb"hv[sbr]\.", DASH, 24, "hv", "s.", "a1B2" * 23),
    token(
        "doppler_token",
        rb"dp\.(?:pt|st|ct|sa|scim|audit)\.",
        rb"[A-Za-z0-9_.-]",
        40,
        "dp",
        ".pt.",
        "a1B2" * 11,
    ),
    token("pulumi_token", rb"pul-", HEX, 40, "pu", "l-", "a1b2" * 10),
    token("alibaba_key", rb"LTAI", WORD, 12, "LT", "AI", "a1B2" * 5),
    token("tencent_key", rb"AKID", WORD, 32, "AK", "ID", "a1B2" * 8),
    token("onepassword_token", rb"ops_eyJ", rb"[A-Za-z0-9+/=_-]", 100, "ops_", "eyJ", "a1B2" * 64),
    token("age_key", rb"AGE-SECRET-KEY-1", rb"[0-9A-Z]", 50, "AGE-", "SECRET-KEY-1", "A1B2" * 14 + "AB"),
    token(
        "tailscale_key",
        rb"tskey-[a-z]+-",
        rb"[A-Za-z0-9-]",
        20,
        "ts",
        "key-auth-",
        "a1B2" * 3,
        "-",
        "a1B2" * 8,
    ),
    Rule(
        id="azure_sas",
        cls="url_query_secret",
        pattern=rb"[?&](sig=[A-Za-z0-9%+/]{40,}(?:=|%3[Dd])?)",
        trigger=rb"[?&]sig=",
        examples=(("https://demo.example.org/box?sv=2026&", "sig=", "a1B2%2F" * 8 + "%3D", "&se=x"),),
    ),
    Rule(
        id="docker_auth",
        cls="basic_auth",
        pattern=rb"""\\*"auth\\*"\s*:\s*\\*"([A-Za-z0-9+/]{16,}={0,2})\\*\"""",
        trigger=rb"""\"auth\\*\"""" + GAP + rb"*:",
        examples=(('{"auths":{"registry.example.org":{"auth":"', "ZGVtb191c2VyOm" + "EyYjRjNmQ4", '"}}}'),),
    ),
)
