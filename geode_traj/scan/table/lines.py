"""Secrets known by the line they stand in: labels of people, markup, queries, settings of programs."""

from __future__ import annotations

from typing import Final

from geode_traj.scan import plausible
from geode_traj.scan.rules import CLOSERS, EDGE, GAP, Rule
from geode_traj.scan.table.structures import NAME

_LABELS: Final = (
    "(?i:contrase)(?:ñ|Ñ)(?i:a)|(?i:mot de passe|passwort|kennwort|senha)|(?i:has)ł(?i:o)|пароль|Пароль"
    "|密码|密碼|口令|パスワード|暗証番号|비밀번호|비번|패스워드|암호|인증키|비밀키"
)
_LABEL: Final = _LABELS.encode()
_FIRST: Final = rb"(?i)\\u(?:be44|d328|c554|c778|5bc6|53e3|30d1|6697|043f|041f|00f1|0142)"
"""How the labels begin where JSON writes them as escapes."""

_SAID: Final = (
    rb"(?:password|passphrase|passcode|pass[ -]?word|pwd|pin code|secret key|api key|access token"
    rb"|credentials?)"
)
_OPENED: Final = rb"""[\\"'`*( \t\xe2\x80\x9c\x98\xe3\x8c\x8e]*"""
"""What may stand before a password in prose: quotes (those of UTF-8 byte by byte), stars, a bracket."""

_GIVEN: Final = _OPENED + (
    rb"(?:([!-~]{5,126}[0-9A-Za-z!@#$%^&+=~?_-]\*)(?:[\s,;.\x80-\xff]|$)|([!-~]{5,127}[0-9A-Za-z!@#$%^&+=~?_-]))"
)
"""A password in prose, without the punctuation after it; a star that ends it is its own, two are not."""

RULES: tuple[Rule, ...] = (
    Rule(
        id="label",
        cls="password_value",
        pattern=rb"(?:"
        + _LABEL
        + rb")(?:\xeb\x8a\x94|\xec\x9d\x80|\xe3\x81\xaf|\xe6\x98\xaf|[ ]?is|[ ]?est)?"
        rb"""[\\"'`*) \t]*(?:[:=]|\xef\xbc\x9a|[ \t]|\xe3\x80[\x8c\x8e]|\xe2\x80[\x98\x9c])""" + _GIVEN,
        trigger=rb"(?:" + _LABEL + rb")|" + _FIRST,
        examples=(
            ("비밀번호는 ", "k1m2n3p4", " 입니다"),
            ("パスワード：", "k1m2n3p4", "\n"),
            ("パスワードは「", "k1m2n3p4", "」です"),
            ("Mot de passe : ", "k1m2n3p4", " ok"),
            ("Kennwort: ", "KurtReLoMi"[::-1] + "TorZan", " ok"),
        ),
        misses=(("비밀번호: ", "********"), ("비밀번호 ", "validation")),
        accept=plausible.spoken,
        vague=2,
    ),
    Rule(
        id="spoken",
        cls="password_value",
        pattern=rb"(?i)" + _SAID + rb"(?: (?:for|of|to|on) (?:the )?[\w.@-]{1,40}(?: [\w.-]{1,20})?)?"
        rb"(?: (?:is|was|are|will be|should be|set to|changed to|reset to|to|=>?)"
        rb"(?: now| still| just)?|[ ]?->|:)[ \t]{1,4}" + _GIVEN,
        trigger=rb"(?i)" + _SAID + rb"(?: (?:for|of|to|on|is|was|are|will|should|set|changed|reset|=|->)|:)",
        examples=(
            ('I set the root password to "', "k1m2n3p4", '" today'),
            ("The password for the staging box is ", "k1m2n3p4", ", please change it"),
            ('my password is "', "k1m2n3p4", '" ok'),
        ),
        misses=(
            ("the password is ", "incorrect, try again"),
            ("password was ", "changed2days ago".replace("2", " ")),
        ),
        accept=plausible.spoken,
        vague=2,
    ),
    Rule(
        id="mentioned",
        cls="password_value",
        pattern=rb"(?i)(?:password|passphrase|/ ?(?:pass|pwd|pw)|/ ?"
        + "비번".encode()
        + rb")[ \t]{1,2}"
        + _GIVEN
        + rb"|(?:credentials?|creds|login|account)[ \t]{0,2}[:=]?[ \t]{1,2}[\w.@+-]{1,64} ?/ ?"
        + _GIVEN,
        trigger=rb"(?i)(?:password|passphrase|pwd|pass|pw)" + GAP + rb"{1,2}[a-z.,]*[^a-z \t\r\n,.]"
        rb"|(?:credentials?|creds|login|account)[ \t]{0,2}[:=]?[ \t]{1,2}[a-z0-9_.@+-]+ ?/",
        examples=(
            ("log in as admin with password ", "k1m2n3p4", " and look"),
            ("user svc / pass ", "k1m2n3p4", ""),
            ("credentials: demo_user / ", "k1m2n3p4", "\n"),
        ),
        misses=(
            ("the password ", "database is full"),
            ("with password ", "sha256 and no salt"),
            ("reset the password ", "demo_user2@example.org"),
            ("login / ", "logout2 page"),
            ("and password ", "uint32_t too"),
            ("reset the password ", "header=0x1f"),
        ),
        accept=plausible.typed,
        vague=2,
    ),
    Rule(
        id="markup",
        cls="password_value",
        pattern=rb"(?i)<[a-z0-9_.:-]{0,40}"
        + NAME
        + rb"""(?:[_.-]?(?:text|value))?(?:[ \t][^<>]{0,80})?>([^<>\s]{6,200})</"""
        rb"""|name=\\?["'][^"'<>\\]{0,80}"""
        + NAME
        + rb"""\\?["'](?:[^<>]{0,40}\bvalue=\\?["']([^"'<>\\\r\n]{6,200})"""
        rb"""|[^<>]{0,40}>([^<>\s]{6,200})</)""",
        trigger=rb"(?i)" + NAME + rb"(?:[_.-]?(?:text|value))?(?:>|\\*[\"'](?:[ >]|" + GAP + rb")| [a-z]+=)",
        examples=(
            ("<dbPassword>", "k1m2n3p4", "</dbPassword>"),
            ('<add name="AdminPassword" value="', "k1m2n3p4", '" />'),
        ),
        misses=(("<password>", "${db.password}</password>"), ("<UserSecretsId>", "a1b2c3d4</UserSecretsId>")),
        accept=plausible.spoken,
        vague=2,
    ),
    Rule(
        id="named_pair",
        cls="password_value",
        pattern=rb"(?i)"
        + NAME
        + rb"""\\*["']?[ \t]*(?:[,\r\n]|\{[^{}]{0,200}?[\s\\{])[\s\\]*["']?(?:value|default)"""
        rb"""\\*["']?[ \t]*[:=][ \t]*\\*["']?([^\s"'\\,}]{6,200})""",
        trigger=rb"(?i)"
        + NAME
        + CLOSERS
        + rb"(?:\{|(?:,|"
        + GAP
        + rb")(?:[\"' \t\\]|"
        + GAP
        + rb")*(?:value|default))",
        examples=(
            ('{"name": "ADMIN_PASSWORD", "value": "', "k1m2n3p4", '"}'),
            ("- name: DB_PASSWORD\n  value: ", "k1m2n3p4", "\n"),
            ('variable "db_password" {\n  type = string\n  default = "', "k1m2n3p4", '"\n}'),
        ),
        misses=(('{"name": "PASSWORD", "value": "', '${PW}"}'),),
        accept=plausible.spoken,
        vague=2,
    ),
    Rule(
        id="short_pass",
        cls="password_value",
        pattern=rb"""(?i)(?:[a-z0-9][_.-]"""
        rb"""|["'\s,{(\[;]|^)(?:db|smtp|become|root|admin|user|sudo)?(?:pass|pw)\\*["']?\]?[ \t]*"""
        rb"""(?:=>|:=|=|:)[ \t]*\\*(?:"([^"\\\s]{6,128})|'([^'\\\s]{6,128})|([^\s"'`\\,;(){}<>]{6,128}))""",
        trigger=rb"(?i)(?:pass|pw)" + CLOSERS + rb"[:=]",
        examples=(
            ("auth: { user: 'demo', pass: '", "k1m2n3p4", "' }"),
            ("db.pass: ", "k1m2n3p4", "\n"),
            ("pw: ", "k1m2n3p4", "\n"),
        ),
        misses=(("pass: ", "compiled"), ("bypass = ", "k1m2n3p4")),
        accept=plausible.spoken,
        vague=2,
    ),
    Rule(
        id="database_query",
        cls="password_value",
        pattern=rb"(?i)(?:identified (?:with [\w'\"]{1,40} )?by"
        rb"|(?:with|encrypted|set|(?:alter|create) (?:role|user|login) [\w'\"@%.-]{1,64}) password"
        rb"(?: for [^=\r\n]{1,60})?(?: =)?"
        rb"|[\s=(,]password\(|set password[^'\r\n]{0,80}=)[ \t]*(?:password\()?\\*['\"]([^'\"\\\r\n]{4,128})",
        trigger=rb"(?i)identified (?:with|by)|(?:with|encrypted|set) password|password\("
        rb"|(?:alter|create) (?:role|user|login) [^ ]+ password ",
        examples=(
            ("CREATE USER demo IDENTIFIED BY '", "k1m2n3p4", "';"),
            ("ALTER ROLE demo WITH PASSWORD '", "k1m2n3p4", "';"),
            ("alter role demo password '", "k1m2n3p4", "';"),
        ),
        misses=(("IDENTIFIED BY '", "<password>'"), ("add_password('", "k1m2n3p4')")),
        accept=plausible.shown,
        vague=1,
    ),
    Rule(
        id="pgpass",
        cls="password_value",
        pattern=rb"(?m)(?:^"
        rb"|[\s\"'])[\w.*-]{1,100}:(?:[0-9]{2,5}|\*):[\w.*-]{1,64}:[\w.*@-]{1,64}"
        rb":([^\s:\"'`]{4,128})[ \t\"']*$",
        trigger=rb":(?:[0-9]{2,5}|\*):[A-Za-z0-9_.*-]+:[A-Za-z0-9_.*@-]+:",
        examples=(("db.example.org:5432:app:demo_user:", "k1m2n3p4", "\n"),),
        misses=(("a.py:12:b:c:", "error"),),
        accept=plausible.spoken,
        vague=1,
    ),
    Rule(
        id="password_hash",
        cls="password_hash",
        pattern=EDGE + rb"(\$(?:2[abxy]?\$[0-9]{2}\$[./A-Za-z0-9]{53}"
        rb"|(?:1|5|6|y|7|apr1)\$[^\s:$\"'\\]{1,64}\$(?:[^\s:$\"'\\]{1,64}\$)?[./A-Za-z0-9]{22,86}"
        rb"|(?:argon2(?:id|i|d)|scrypt|pbkdf2-sha[0-9]+)\$[^\s:\"'\\]{40,200})|pbkdf2_sha(?:1|256|512)\$[0-9]+\$[^\s:\"'\\]{30,200})",
        trigger=rb"\$(?:2[abxy]?\$[0-9]{2}\$|(?:1|5|6|y|7|apr1)\$[^ $\"]+\$|argon2|scrypt\$|pbkdf2-)"
        rb"|pbkdf2_sha",
        examples=(
            ("demo:", "$2", "b$12$" + "a1B2" * 13 + "c", ":1000"),
            ("demo:", "$6", "$a1b2c3d4$" + "a1B2" * 21 + "ab", ":1"),
        ),
        misses=(("$2", "b$ shell"),),
    ),
    Rule(
        id="putty_key",
        cls="private_key",
        pattern=rb"(PuTTY-User-Key-File-[0-9]: )",
        until=rb"Private-MAC: [0-9a-f]{40,}",
        trigger=rb"PuTTY-User-Key-File-",
        examples=(
            (
                "",
                "PuTTY-User-Key-",
                "File-3: ssh-ed25519\nPrivate-Lines: 1\n" + "a1B2" * 12,
                "\nPrivate-MAC: " + "a1b2" * 16,
                "",
            ),
        ),
    ),
    Rule(
        id="wifi_code",
        cls="password_value",
        pattern=rb"WIFI:(?:[A-Z]:[^;\r\n]{0,64};){0,4}?P:([^;\r\n]{8,63});"
        rb"|(?i:wpa[_ -]?psk|psk|wpa[_-]?passphrase)[ \t]*[=:][ \t]*\\*[\"']?([^\s\"'\\]{8,63})",
        trigger=rb"WIFI:|(?i)psk|wpa[_-]?passphrase",
        examples=(("WIFI:T:WPA;S:demo;P:", "k1m2n3p4", ";;"), ('    psk="', "k1m2n3p4", '"')),
        misses=(("WIFI:T:WPA;S:demo;", ";"),),
        accept=plausible.spoken,
        vague=1,
    ),
    Rule(
        id="npmrc",
        cls="authorization_value",
        pattern=rb"""(?:^|[\s:"'])_(?:auth|authToken|password)[ \t]*=[ \t]*["']?([A-Za-z0-9+/=_.-]{12,})""",
        trigger=rb"_(?:auth|authToken|password) ?=",
        examples=(
            ("//npm.example.org/:_authToken=", "a1B2c3D4" * 3, "\n"),
            ("_auth = ", "a1B2c3D4" * 3, "\n"),
        ),
        misses=(("_authToken=", "${NPM_TOKEN}"), ("my_auth=", "a1B2c3D4e5F6g7H8"[::-1])),
        accept=plausible.key,
        vague=1,
    ),
    Rule(
        id="kube_key",
        cls="private_key",
        pattern=rb"""client-key-data\\*["']?:[ \t]*\\*["']?([A-Za-z0-9+/=_.-]{40,})""",
        trigger=rb"client-key-data",
        examples=(("    client-key-data: ", "a1B2c3D4" * 8, "\n"),),
        misses=(("client-key-data: ", "DATA+OMITTED"),),
        accept=plausible.issued,
        vague=1,
    ),
    Rule(
        id="json_web_key",
        cls="private_key",
        pattern=rb"""\\*"(?:d|p|q|dp|dq|qi|k)\\*"\s*:\s*\\*"([A-Za-z0-9_-]{22,})\\*\"""",
        trigger=rb"\"kty\\*\"",
        examples=(('{"kty":"OKP","crv":"Ed25519","d":"', "a1B2c3D4" * 5 + "e5F", '"}'),),
        misses=(('{"kty":"OKP","x":"', "a1B2c3D4" * 5 + '"}'),),
        accept=plausible.key,
        vague=1,
    ),
)
