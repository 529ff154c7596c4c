"""Secrets known by what stands around them: headers, assignments, command lines, URLs, PEM."""

from __future__ import annotations

from typing import Final

from geode_traj.scan import checksums, plausible
from geode_traj.scan.rules import CLOSERS, EDGE, GAP, Rule

NAME: Final = (
    "(?:(?:client|app|consumer|shared)[_.-]?secret|secret[_.-]?(?:access[_.-]?)?key(?:[_.-]?base)?"
    "|(?:api|access|auth|private|pre[_.-]?shared|signing|encryption|account|master|storage|app(?:lication)?"
    "|admin|service|licen[sc]e|webhook|deploy)[ _.-]?key"
    "|passw(?:or)?d|passphrase|pass[_.-]?phrase|pwd|psw|[_.-]pw|[_.-]pass|secret|token|credentials?"
    "|비밀번호|암호)(?:[_.-]?v?[0-9]{1,2})?"
).encode()
"""A name whose value is a secret; anything may stand before it (`DB_`, `my`), nothing but a number after."""

KOREAN_ESCAPE: Final = rb"\\u(?:[bB][eE]44|[cC]554)"

_PUBLIC: Final = (
    rb"(?:(?:public|publishable|csrf|xsrf|next|page|cursor|continuation|eos|bos|pad|unk)[ _.-]?)?"
)
"""Before a name: what is shown to everybody, and the tokens of pages and of language models."""

_SEP: Final = (
    rb"""[\\"'`\]) \t]*(?::[ \t]*(?:[Ss]tr(?:ing)?|&(?:'static )?str|bytes|SecretStr|Optional\[str\]"""
    rb"""|Final(?:\[str\])?|str ?\| ?None)[ \t]*=|string[ \t]*="""
    rb"""|:{1,3}=|=>|[?]?=|:)[ \t]*"""
)
_QUOTED: Final = (
    rb"""(?:[bBrRuUfF]?\\*"((?:[^"\\\r\n]|\\+[^"\\\r\n])+)|[bBrRuUfF]?\\*'((?:[^'\\\r\n]|\\+[^'\\\r\n])+)"""
    rb"""|\\*`((?:[^`\\\r\n]|\\+[^`\\\r\n])+)"""
)
_BARE: Final = rb"""[^\s"'`,;<>(){}\[\]\\&|]"""
_VALUE: Final = _QUOTED + rb"""|([^\s"'`,;<>(){}\[\]\\&|=]""" + _BARE + rb"""*)(?:[\s"'`,;<>)}\]\\&|]|$))"""
_HEADERS: Final = (
    rb"(?:x-(?:api-key|auth-token|access-token|amz-security-token|goog-api-key|goog-iam-authorization-token"
    rb"|csrf-token|gitlab-token|vault-token|auth-key|secret|token)|api-key|apikey|private-token"
    rb"|ocp-apim-subscription-key)"
)

RULES: tuple[Rule, ...] = (
    Rule(
        id="jwt",
        cls="jwt",
        pattern=rb"(eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+)",
        trigger=rb"eyJ[A-Za-z0-9_-]{8}",
        examples=(("token ", "ey" + "J", "a1B2" * 6, ".", "ey" + "J", "a1B2" * 9, ".", "a1B2" * 10, " end"),),
        misses=(("ey", "J0eXAi only"),),
        sure=checksums.jwt,
    ),
    Rule(
        id="private_key",
        cls="private_key",
        pattern=rb"(-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
        rb"(?:[^-]|-[^-]){0,160}?[A-Za-z0-9+/=]{32})",
        until=rb"-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?:\\+n)?",
        trigger=rb"PRIVATE KEY(?: BLOCK)?-----",
        examples=(
            (
                "cat key\n",
                "-----BEGIN RSA PRIV",
                "ATE KEY-----\n",
                ("a1B2" * 16 + "\n") * 3,
                "-----END RSA PRIV",
                "ATE KEY-----",
                "\n$ ",
            ),
            ("", "-----BEGIN OPENSSH PRIV", "ATE KEY-----\n", "a1B2" * 17, ""),
            (
                "",
                "-----BEGIN PGP PRIV",
                "ATE KEY BLOCK-----\nVersion: 2\n\n",
                "a1B2" * 16,
                "\n-----END PGP PRIV",
                "ATE KEY BLOCK-----",
                "\n",
            ),
        ),
        misses=(
            ("if text.startswith('-----BEGIN PRIV", "ATE KEY-----'):\n    raise Refused('no keys here')"),
        ),
    ),
    Rule(
        id="bearer",
        cls="bearer",
        pattern=rb"(?i)bearer[ \t]+([A-Za-z0-9._~+/=-]{12,})",
        trigger=rb"(?i)bearer" + GAP + rb"+[A-Za-z0-9._~+/=\\-]{12}",
        examples=(("curl with Bearer ", "a1B2c3D4" * 4, " now"),),
        misses=(("Bearer ", "authentication"), ("Bearer ", "<your-token>"), ("Bearer ", "${TOKEN}")),
        accept=plausible.credential,
        vague=1,
    ),
    Rule(
        id="basic_auth",
        cls="basic_auth",
        pattern=rb"(?i)basic[ \t]+([A-Za-z0-9+/]{12,}={0,2})",
        trigger=rb"(?i)basic" + GAP + rb"+[A-Za-z0-9+/\\]{12}",
        examples=(("Basic ", "ZGVtb191c2VyOm" + "EyYjRjNmQ4", " ok"),),
        misses=(("Basic ", "authentication"), ("basic ", "understanding")),
        accept=plausible.basic,
    ),
    Rule(
        id="authorization",
        cls="authorization_value",
        pattern=rb"""(?i)authorization[\\"'` \t]*[:=][\\"'` \t]*"""
        rb"(?:(?:basic|bearer|token|digest|negotiate|oauth|ssws|splunk|geniekey|dpop|jwt|bot|hmac|hawk"
        rb"|api-?(?:key|token)|aws4-hmac-sha256)[ \t]+)?"
        rb"""([^\s"'`\\,;<>{}()]{8,})""",
        trigger=rb"(?i)authorization" + CLOSERS + rb"[:=]",
        examples=(
            ("Authorization: Token ", "a1B2c3D4" * 3, "\nHost: x"),
            ("Authorization: SSWS ", "a1B2c3D4" * 3, "\n"),
            ('{"Authorization": "', "a1B2c3D4" * 2, '"}'),
        ),
        misses=(("Authorization: Bearer ", "$TOKEN"), ("authorization: ", "required")),
        accept=plausible.credential,
        vague=1,
    ),
    Rule(
        id="secret_header",
        cls="authorization_value",
        pattern=rb"(?i)" + _HEADERS + rb"""[\\"'` \t]*[:=][\\"'` \t]*([^\s"'`\\,;<>{}()]{8,})""",
        trigger=rb"(?i)" + _HEADERS + CLOSERS + rb"[:=]",
        examples=(("X-Auth-Token: ", "a1B2c3D4" * 2, "\n"), ("-H 'x-api-key: ", "a1B2c3D4" * 2, "' url")),
        misses=(("X-Api-Key: ", "<your-key>"),),
        accept=plausible.credential,
        vague=1,
    ),
    Rule(
        id="cookie",
        cls="cookie_value",
        pattern=rb"""(?i)cookie[\\"'` \t]*:[\\"'` \t]*([^\r\n"'`\\]{8,})""",
        trigger=rb"(?i)cookie" + CLOSERS + rb":",
        examples=(("Set-Cookie: ", "sid=" + "a1B2c3D4" * 2 + "; Path=/; HttpOnly", "\nDate: x"),),
        misses=(
            ("cookie: ", "chocolate chips and nothing else"),
            ("Set-Cookie: ", "rocky=road; Path=/cookie"),
        ),
        accept=plausible.cookie,
        vague=1,
    ),
    Rule(
        id="assignment",
        cls="password_value",
        pattern=rb"(?i)" + _PUBLIC + NAME + _SEP + _VALUE,
        trigger=rb"(?i)" + NAME + CLOSERS + rb"(?:string[ \t]*)?[?]?[:=]|" + KOREAN_ESCAPE,
        examples=(
            ('password="', "hunter2", '"'),
            ("db_password: ", "s3cr3t-pw9", "\n"),
            ('{"clientSecret": "', "a1B2c3D4e5", '", "id": 1}'),
            ('api_key = "', "a1B2c3D4e5F6", '"'),
            ("비밀번호: ", "k1m2n3p4", " 입니다"),
            ('config["token"] = \'', "a1B2c3D4e5F6", "'"),
            ("password: str = '", "hunter2x", "'"),
            ('let secret: &str = "', "k1m2n3p4-q5", '";'),
            ('var pwd string = "', "hunter2x", '"'),
            ("PASSWORD ?= ", "hunter2", "\n"),
            ("PresharedKey = ", "a1B2+c3D" * 5 + "e5F=", "\n"),
            ("password = ", "Kurt" + "ReLoMiTorZanWu"[::-1], "\n"),
        ),
        misses=(
            ('apiKey == "', '"'),
            ('if (apiKey === "', 'abc12345")'),
            ('password = "', "<your-password>", '"'),
            ("token = ", "${TOKEN}"),
            ("token: ", "str"),
            ("api_key=", "os.environ['API_KEY']"),
            ("secret = ", "get_secret('name1')"),
            ("password: ", "xxxxxxxx"),
            ("max_tokens: ", "12345678"),
            ("token = ", "[REDACTED]"),
            ("access_token = ", "accessTokenProvider"),
            ("password=", "[REDACTED:password_value:1]"),
            ("token_type: ", "a1B2c3D4e5F6"),
            ('"nextPageToken": "', "a1B2c3D4e5F6", '"'),
            ("public_token = ", "a1B2c3D4e5F6"),
            ('"child_session_key": "', "demo_user@" + "a1B2c3D4e5F6.example.org", '"'),
            ('password: "', "AES_256_CBC-HMAC", '"'),
            ('password: "', "{cipher}a1B2c3D4e5F6", '"'),
            ("api_key = ", "abcdefghijklmnop1234"),
            ("api_key = ", "key_00000000000000001a"),
            ("secret: ", "tls-2024-prod"),
        ),
        accept=plausible.assigned,
        nested=True,
        vague=2,
    ),
    Rule(
        id="environment",
        cls="password_value",
        pattern=EDGE + rb"(?:[A-Z0-9]+_)*"
        rb"(?:PASSWORD|PASSWD|PASSPHRASE|PASS|PWD|SECRET|TOKEN|KEY|CREDENTIALS?|PAT|AUTH)(?:_(?:[0-9]{1,2}|BASE|PROD|LIVE|STAGING|DEV|TEST))?"
        rb"""=["']?([^\s"'`\\<>=]"""
        rb"""[^\s"'`\\<>]{7,})""",
        trigger=rb"(?:PASS(?:W(?:OR)?D|PHRASE)?|PWD|SECRET|TOKEN|KEY|CREDENTIALS?|PAT|AUTH)[A-Z0-9_]*=",
        examples=(
            ("LANG=C\nDEMO_SECRET_KEY=", "a1B2&c3(D4)e5", "\nHOME=/root"),
            ("export DEMO_PAT=", "a1B2c3D4e5", "\n"),
        ),
        misses=(
            ("DEMO_KEY=", "$OTHER_KEY"),
            ("SORT_KEY=", "created_at"),
            ("PWD=", "/srv/demo/a1b2"),
            ("DEMO_KEY_ID=", "a1B2&c3D4"),
            ("DEMO_PUBLIC_KEY=", "a1B2&c3D4"),
        ),
        accept=plausible.environment,
        vague=2,
    ),
    Rule(
        id="netrc",
        cls="password_value",
        pattern=rb"machine\s+\S+\s+login\s+\S+\s+password\s+([^\s\"'`\\]+)",
        trigger=rb"machine" + GAP + rb"+[^\s]+" + GAP + rb"+login",
        examples=(("machine example.org login demo_user password ", "hunter2x", "\n"),),
        misses=(("a machine you login with your password ", "please"),),
        accept=plausible.shown,
    ),
    Rule(
        id="url_credentials",
        cls="url_credentials",
        pattern=rb"""[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/@:"'`<>\\]{0,100}:"""
        rb"""([^\s/@"'`<>\\]{1,200}@[A-Za-z0-9\[$%][A-Za-z0-9_.,:-]{0,100})""",
        trigger=rb"""://[^\s/@"'`<>]*@|:\\+/\\*/""",
        examples=(
            ("postgres://demo_user:", "s3cr3t9", "@db.demo.internal/app"),
            ("postgres://demo_user:", "k1m2n3p4", "@db.example.org/app"),
            ("https://:", "a1B2c3d4", "@example.org"),
            ("redis://:", "비밀 번호".replace(" ", "1"), "@cache:6379/0"),
        ),
        misses=(
            ("https://", "user:<password>@example.org"),
            ("https://user:", "$PASS@example.org"),
            ("https://demo_user:", "hunter2@api.example.com/v1"),
            ("http://example.org:8080/a", "@b"),
        ),
        within=plausible.in_address,
    ),
    Rule(
        id="url_query_secret",
        cls="url_query_secret",
        pattern=rb"""(?i)[?&](?:amp;)?("""
        rb"(?:api[_-]?key|(?:(?:access|auth|refresh|id)[_-]?)?token|(?:client[_-]?)?secret"
        rb"|password|passwd|pwd"
        rb"|x-amz-signature|x-amz-security-token|signature)"
        rb"""=[^\s&"'`<>()\\]{8,})""",
        trigger=rb"(?i)[?&](?:amp;)?[a-z_-]*(?:key|token|secret|passw?o?r?d|pwd|signature)=",
        examples=(
            ("https://example.org/a?x=1&", "api_key=" + "a1B2c3D4", "&y=2"),
            ("/cb?", "Token=" + "a1B2c3D4", " ok"),
        ),
        misses=(("https://example.org/a?token=", "${TOKEN}"), ("/a?token=", "<your-token>")),
        accept=plausible.parameter,
        vague=1,
    ),
    Rule(
        id="url_query_key",
        cls="url_query_secret",
        pattern=rb"""(?i)[?&](?:amp;)?((?:key|auth|sig|session|sid|jwt|code|\w{1,32}[_-](?:key|token|secret))"""
        rb"""=[^\s&#"'`<>()\\]{20,})""",
        trigger=rb"(?i)[?&](?:amp;)?(?:[a-z0-9_-]*[_-])?(?:key|auth|sig|session|sid|jwt|code|token|secret)=",
        examples=(("https://example.org/js?v=3&", "key=" + "a1B2c3D4" * 4, "#top"),),
        misses=(("https://example.org/?key=", "sort-by-the-last-name-first"), ("/?code=", "1234567890" * 2)),
        accept=plausible.drawn_parameter,
        vague=1,
    ),
    Rule(
        id="session_cookie",
        cls="cookie_value",
        pattern=rb"(?i)(?:PHPSESSID|JSESSIONID|connect\.sid|ASP\.NET_SessionId|[a-z]{2,16}_session|sessionid)"
        rb"""[\\"'` \t]*[=:][\\"'` \t]*([^\s;,"'`\\&<>]{16,})""",
        trigger=rb"(?i)PHPSESSID|JSESSIONID|connect\.sid|ASP\.NET_Session|_session=|sessionid=",
        examples=(("document.cookie = 'JSESSIONID=", "a1B2c3D4" * 4, "'"),),
        misses=(("connect.sid=", "<your-session-id-here>"), ("sessionid: ", "a-session-of-the-demo-user")),
        accept=plausible.key,
        vague=1,
    ),
    Rule(
        id="cookie_option",
        cls="cookie_value",
        pattern=rb"""[ \t](?:-b|--cookie)[ \t=]*["']?([\w.-]{1,64}=[^"'\r\n]{8,})""",
        trigger=rb"(?: -b|--cookie)[ =][\\\"']*[A-Za-z0-9_.-]+=",
        examples=(("curl -b '", "sid=" + "a1B2c3D4" * 3, "' https://example.org/"),),
        misses=(("tool -b ", "branch=main-of-the-demo"),),
        accept=plausible.drawn_cookie,
        vague=1,
    ),
)
