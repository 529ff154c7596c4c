"""Tokens of messaging, payment, monitoring and other services."""

from __future__ import annotations

from geode_traj.scan import plausible
from geode_traj.scan.rules import Rule, token

WORD = rb"[A-Za-z0-9]"
UNDER = rb"[A-Za-z0-9_]"
DASH = rb"[A-Za-z0-9_-]"
HEX = rb"[0-9a-f]"
NOT_BASE64 = rb"(?:^\+?|[\r\n]\+|[^A-Za-z0-9+])"
"""Before a token that base64 can hold by chance; a + that begins a line is a diff's."""

_HTTPS = rb"((?:https?:\\*/\\*/)?"
"""How the address of a webhook begins, all of which is the secret; JSON may write / as \\/."""

RULES: tuple[Rule, ...] = (
    token(
        "slack_token",
        rb"(?:xoxe\.)?xox[bp]-",
        rb"[A-Za-z0-9-]",
        1,
        "xo",
        "xb-",
        "204174930625-",
        "a1B2" * 6,
        edge=b"",
        trigger=rb"xox[bp]-",
    ),
    token(
        "slack_other_token",
        rb"xox[acdeors]-(?:[0-9]{1,13}-)+",
        WORD,
        20,
        "xo",
        "xa-2-204174930625-",
        "a1B2" * 8,
        cls="slack_token",
        trigger=rb"xox[acdeors]-[0-9]",
        accept=plausible.last_issued,
        misses=(("xo", "xo-", "demo-2"), ("xo", "xa-", "town"), ("xox", "e-1-", "x" * 30)),
    ),
    token(
        "slack_app_token",
        rb"xapp-",
        rb"[A-Za-z0-9-]",
        1,
        "xa",
        "pp-1-",
        "A1B2C3D4-",
        "a1b2" * 16,
        cls="slack_token",
        edge=b"",
    ),
    Rule(
        id="slack_webhook",
        cls="webhook_url",
        pattern=_HTTPS + rb"hooks\.slack\.com\\*/(?:services|workflows|triggers)\\*/[A-Za-z0-9_/\\-]{20,})",
        trigger=rb"hooks\.slack\.com\\*/",
        examples=(
            ("to ", "https://hooks.slack.com/", "services/", "T0A1B2C3D/B0A1B2C3D/" + "a1B2" * 6, " ok"),
        ),
    ),
    Rule(
        id="discord_webhook",
        cls="webhook_url",
        pattern=_HTTPS
        + rb"(?:[a-z]+\.)?discord(?:app)?\.com\\*/api\\*/(?:v[0-9]+\\*/)?webhooks\\*/"
        + rb"[0-9]{10,}\\*/[A-Za-z0-9_-]{40,})",
        trigger=rb"discord(?:app)?\.com\\*/api\\*/",
        examples=(
            ("to ", "https://discord.com/api/", "webhooks/", "2041749306" * 2, "/", "a1B2" * 17, " ok"),
        ),
    ),
    Rule(
        id="teams_webhook",
        cls="webhook_url",
        pattern=_HTTPS + rb"(?:[a-z0-9-]+\.)?webhook\.office\.com\\*/webhookb2\\*/[A-Za-z0-9@_/\\-]{40,})",
        trigger=rb"webhook\.office\.com\\*/",
        examples=(
            (
                "to ",
                "https://demo.webhook.office.com/",
                "webhookb2/",
                "a1b2" * 9 + "/IncomingWebhook/" + "a1b2" * 8,
                " ok",
            ),
        ),
    ),
    Rule(
        id="discord_token",
        cls="discord_token",
        pattern=rb"(?:^|[^A-Za-z0-9])([MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,})",
        trigger=rb"\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27}",
        examples=(("", "M" + "Ta1" * 8, ".", "Ga1b2c", ".", "a1B2" * 9, ""),),
    ),
    Rule(
        id="telegram_token",
        cls="telegram_token",
        pattern=rb"(?:^|[^A-Za-z0-9]|bot)([0-9]{8,10}:AA[A-Za-z0-9_-]{32,})",
        trigger=rb":AA[A-Za-z0-9_-]{16}",
        examples=(("bot", "204174930", ":AA", "a1B2" * 8 + "a", ""),),
    ),
    token(
        "sendgrid_key",
        rb"SG\.[A-Za-z0-9_-]{16,32}\.",
        DASH,
        32,
        "SG",
        ".",
        "a1B2" * 5 + "ab",
        ".",
        "a1B2" * 10 + "abc",
    ),
    token("mailgun_key", rb"key-", HEX, 32, "ke", "y-", "a1b2" * 8),
    token("mailchimp_key", rb"[0-9a-f]{32}-us", rb"[0-9]", 1, "a1b2" * 8, "-us", "12"),
    token("brevo_key", rb"xkeysib-", rb"[A-Za-z0-9-]", 64, "xkey", "sib-", "a1b2" * 16, "-", "a1B2" * 4),
    token("resend_key", rb"re_[A-Za-z0-9]{8}_", WORD, 20, "r", "e_", "a1B2c3D4", "_", "a1B2" * 6),
    token("twilio_key", rb"SK", HEX, 32, "S", "K", "a1b2" * 8),
    token("stripe_key", rb"(?:sk|rk)_(?:live|test|prod)_", WORD, 16, "sk", "_live_", "a1B2" * 6),
    token("stripe_webhook_secret", rb"whsec_", rb"[A-Za-z0-9+/=]", 24, "wh", "sec_", "a1B2" * 8),
    token("square_token", rb"sq0(?:atp|csp|idp)-", DASH, 22, "sq0", "atp-", "a1B2" * 6),
    token("shopify_token", rb"shp(?:at|ca|pa|ss|ua)_", rb"[0-9a-fA-F]", 32, "shp", "at_", "a1b2" * 8),
    token("razorpay_key", rb"rzp_(?:live|test)_", WORD, 14, "rzp", "_live_", "a1B2" * 4),
    token(
        "braintree_token",
        rb"access_token\$(?:production|sandbox)\$",
        rb"[0-9a-z$]",
        40,
        "access_",
        "token$production$",
        "a1b2" * 4,
        "$",
        "a1b2" * 8,
    ),
    token("flutterwave_key", rb"FLWSECK(?:_TEST)?-", rb"[0-9A-Za-z-]", 12, "FLW", "SECK-", "a1b2" * 8, "-X"),
    token("easypost_key", rb"EZ[AT]K", WORD, 50, "EZ", "AK", "a1b2" * 14, edge=NOT_BASE64),
    token("notion_token", rb"ntn_", WORD, 40, "nt", "n_", "a1B2" * 12),
    token("notion_secret", rb"secret_", WORD, 40, "sec", "ret_", "a1B2" * 11, cls="notion_token"),
    token("linear_key", rb"lin_(?:api|oauth)_", WORD, 32, "lin", "_api_", "a1B2" * 10),
    token("figma_token", rb"fig[dru]_", DASH, 40, "fig", "d_", "a1B2" * 10),
    token("airtable_token", rb"pat[A-Za-z0-9]{14}\.", HEX, 60, "pat", "a1B2" * 3 + "ab", ".", "a1b2" * 16),
    token(
        "grafana_token", rb"gl(?:c|sa)_", rb"[A-Za-z0-9+/=_]", 32, "gl", "sa_", "a1B2" * 8, "_", "a1b2c3d4"
    ),
    token("newrelic_key", rb"NR(?:AK|RA|JS|II|AL)-", WORD, 19, "NR", "AK-", "A1B2" * 7),
    token("sentry_token", rb"sntry[su]_", rb"[A-Za-z0-9+/=_]", 40, "sn", "trys_", "a1B2" * 20),
    token("posthog_key", rb"phx_", WORD, 40, "ph", "x_", "a1B2" * 11),
    token("shippo_key", rb"shippo_(?:live|test)_", HEX, 40, "ship", "po_live_", "a1b2" * 10),
    token("contentful_token", rb"CFPAT-", DASH, 40, "CF", "PAT-", "a1B2" * 11),
    token(
        "dynatrace_token",
        rb"dt0[a-z][0-9]{2}\.",
        rb"[A-Z0-9.]",
        60,
        "dt0",
        "c01.",
        "A1B2" * 6,
        ".",
        "A1B2" * 16,
    ),
    token("hubspot_token", rb"pat-(?:na|eu)[0-9]-", rb"[0-9a-f-]", 32, "pat", "-na1-", "a1b2" * 9),
    token(
        "launchdarkly_key",
        rb"(?:sdk|api)-[0-9a-f]{8}-",
        rb"[0-9a-f-]",
        27,
        "sd",
        "k-",
        "a1b2c3d4-",
        "a1b2-" * 3 + "a1b2" * 3,
    ),
    token("mapbox_token", rb"sk\.eyJ", rb"[A-Za-z0-9_.-]", 40, "sk", ".eyJ", "a1B2" * 20),
    token("facebook_token", rb"EAA", WORD, 80, "EA", "A", "a1B2" * 30, edge=NOT_BASE64),
    token(
        "square_access_token",
        rb"EAAA[A-Za-z0-9_-]{20}",
        DASH,
        40,
        "EA",
        "AA",
        "a1-2" * 15,
        cls="square_token",
    ),
    token("clickup_token", rb"pk_[0-9]{5,12}_", rb"[A-Z0-9]", 32, "p", "k_", "20417493_", "A1B2" * 8),
    token("prefect_key", rb"pn[ub]_", WORD, 36, "pn", "u_", "a1B2" * 9),
    token("toss_key", rb"(?:live|test)_g?sk_(?:docs_)?", WORD, 20, "liv", "e_gsk_", "a1B2" * 8),
    token("typeform_token", rb"tfp_", rb"[A-Za-z0-9_.=-]", 40, "tf", "p_", "a1B2" * 14, edge=NOT_BASE64),
)
