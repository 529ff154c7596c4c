"""Secrets known by the line they stand in: labels of people, markup, queries, settings of programs."""

from __future__ import annotations

from typing import Final

from geode_traj.scan import checksums, plausible
from geode_traj.scan.rules import CLOSERS, EDGE, GAP, Rule
from geode_traj.scan.table.structures import NAME

_LABELS: Final = (
    "contraseña|mot de passe|passwort|kennwort|senha|hasło|пароль|Пароль|密码|密碼|口令"
    "|パスワード|暗証番号|비밀번호|비번|패스워드|암호|인증키|비밀키"
)
_LABEL: Final = _LABELS.encode()
_FIRST: Final = rb"(?i)\\u(?:be44|d328|c554|c778|5bc6|53e3|30d1|6697|043f|041f|00f1|0142)"
"""How the labels begin where JSON writes them as escapes."""

_SAID: Final = (
    rb"(?:password|passphrase|passcode|pass[ -]?word|pwd|pin code|secret key|api key|access token"
    rb"|credentials?)"
)
_WORD: Final = rb"[a-z]{3,8}"

RULES: tuple[Rule, ...] = (
    Rule(
        id="label",
        cls="password_value",
        pattern=rb"(?:"
        + _LABEL
        + rb")(?:\xeb\x8a\x94|\xec\x9d\x80|\xe3\x81\xaf|\xe6\x98\xaf|[ ]?is|[ ]?est)?"
        rb"""[\\"'`*) \t]*(?:[:=]|\xef\xbc\x9a|"""
        rb"""[ \t])[\\"'`*( \t\xe2\x80\x9c\xe3\x80\x8c]*([!-~]{5,127}[0-9A-Za-z!@#$%^&+=~?_-])""",
        trigger=rb"(?:" + _LABEL + rb")|" + _FIRST,
        examples=(
            ("비밀번호는 ", "k1m2n3p4", " 입니다"),
            ("パスワード：", "k1m2n3p4", "\n"),
            ("Mot de passe : ".lower(), "k1m2n3p4", " ok"),
        ),
        misses=(("비밀번호: ", "********"), ("비밀번호 ", "validation")),
        accept=plausible.spoken,
        vague=2,
    ),
    Rule(
        id="spoken",
        cls="password_value",
        pattern=rb"(?i)" + _SAID + rb"(?: (?:for|of|to|on) (?:the )?[\w.@-]{1,40}(?: [\w.-]{1,20})?)?"
        rb"(?: (?:is|was|are|will be|should be|set to|changed to|reset to|=>?)"
        rb"(?: now| still| just)?|[ ]?->|:)"
        rb"""[ \t]{1,4}[\\"'`*(\xe2\x80\x9c\xe2\x80\x98]*([!-~]{5,127}[0-9A-Za-z!@#$%^&+=~?_-])""",
        trigger=rb"(?i)" + _SAID + rb"(?: (?:for|of|to|on|is|was|are|will|should|set|changed|reset|=|->)|:)",
        examples=(
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
        id="markup",
        cls="password_value",
        pattern=rb"(?i)<[a-z0-9_.:-]{0,40}"
        + NAME
        + rb"""[a-z0-9_.-]{0,20}(?:[ \t][^<>]{0,80})?>([^<>\s]{6,200})</"""
        rb"""|name=\\?["'][^"'<>\\]{0,80}"""
        + NAME
        + rb"""\\?["'](?:[^<>]{0,40}\bvalue=\\?["']([^"'<>\\\r\n]{6,200})"""
        rb"""|[^<>]{0,40}>([^<>\s]{6,200})</)""",
        trigger=rb"(?i)" + NAME + rb"[\\\"' a-z0-9_.-]*(?:>|value=)",
        examples=(
            ("<dbPassword>", "k1m2n3p4", "</dbPassword>"),
            ('<add name="AdminPassword" value="', "k1m2n3p4", '" />'),
        ),
        misses=(("<password>", "${db.password}</password>"),),
        accept=plausible.spoken,
        vague=2,
    ),
    Rule(
        id="named_pair",
        cls="password_value",
        pattern=rb"(?i)"
        + NAME
        + rb"""\\*["']?[ \t]*[,\r\n][\s\\]*["']?(?:value|default)\\*["']?[ \t]*[:=][ \t]*"""
        rb"""\\*["']?([^\s"'\\,}]{6,200})""",
        trigger=rb"(?i)"
        + NAME
        + CLOSERS
        + rb"(?:,|"
        + GAP
        + rb")(?:[\"' \t\\]|"
        + GAP
        + rb")*(?:value|default)",
        examples=(
            ('{"name": "ADMIN_PASSWORD", "value": "', "k1m2n3p4", '"}'),
            ("- name: DB_PASSWORD\n  value: ", "k1m2n3p4", "\n"),
        ),
        misses=(('{"name": "PASSWORD", "value": "', '${PW}"}'),),
        accept=plausible.spoken,
        vague=2,
    ),
    Rule(
        id="short_pass",
        cls="password_value",
        pattern=rb"""(?i)(?:[a-z0-9][_.-]"""
        rb"""|["'\s,{(\[;]|^)(?:db|smtp|become|root|admin|user|sudo)?pass\\*["']?\]?[ \t]*"""
        rb"""(?:=>|:=|=|:)[ \t]*\\*(?:"([^"\\\s]{6,128})|'([^'\\\s]{6,128})|([^\s"'`\\,;(){}<>]{6,128}))""",
        trigger=rb"(?i)pass" + CLOSERS + rb"[:=]",
        examples=(("auth: { user: 'demo', pass: '", "k1m2n3p4", "' }"), ("db.pass: ", "k1m2n3p4", "\n")),
        misses=(("pass: ", "compiled"), ("bypass = ", "k1m2n3p4")),
        accept=plausible.spoken,
        vague=2,
    ),
    Rule(
        id="database_query",
        cls="password_value",
        pattern=rb"(?i)(?:identified (?:with [\w'\"]{1,40} )?by"
        rb"|(?:with|encrypted|set) password(?: for [^=\r\n]{1,60})?(?: =)?"
        rb"|password\(|set password[^'\r\n]{0,80}=)[ \t]*(?:password\()?\\*['\"]([^'\"\\\r\n]{4,128})",
        trigger=rb"(?i)identified (?:with|by)|(?:with|encrypted|set) password|password\(",
        examples=(
            ("CREATE USER demo IDENTIFIED BY '", "k1m2n3p4", "';"),
            ("ALTER ROLE demo WITH PASSWORD '", "k1m2n3p4", "';"),
        ),
        misses=(("IDENTIFIED BY '", "<password>'"),),
        accept=plausible.shown,
        vague=1,
    ),
    Rule(
        id="database_client",
        cls="password_value",
        pattern=rb"""(?:mysql(?:dump|admin|sh)?|mariadb|mycli)[ \t](?:[^\r\n]{0,200}?"""
        rb"""[ \t])?-p["']?([^\s"'`\\-][^\s"'`\\]{3,127})"""
        rb"""|(?:sshpass|unzip|7z|zip|ldapsearch|htpasswd)[ \t](?:[^\r\n]{0,200}?[ \t])?-[pPwb]"""
        rb"""[ \t]?["']?([^\s"'`\\/-][^\s"'`\\]{3,127})"""
        rb"""|redis-cli[ \t](?:[^\r\n]{0,200}?[ \t])?-a[ \t]+["']?([^\s"'`\\-][^\s"'`\\]{3,127})"""
        rb"""|net use [^\r\n]{1,120}/user:\S+ ["']?([^\s"'`\\*][^\s"'`\\]{3,127})"""
        rb"""|-pass(?:in|out)? pass:["']?([^\s"'`\\]{4,128})""",
        trigger=rb"(?:mysql|mariadb|mycli|sshpass|zip|7z|ldapsearch|htpasswd)[a-z]*"
        + GAP
        + rb"[^\r\n]*-[pPwb]"
        rb"|redis-cli" + GAP + rb"[^\r\n]*-a|net use |pass:",
        examples=(
            ("$ mysql -u demo -p", "k1m2n3p4", " app"),
            ("sshpass -p '", "k1m2n3p4", "' ssh demo"),
            ("redis-cli -h db -a ", "k1m2n3p4", " ping"),
        ),
        misses=(("mysql -u demo -p", " app"), ("mysql -p", "$PW app")),
        accept=plausible.spoken,
        vague=1,
    ),
    Rule(
        id="basic_pair",
        cls="basic_auth",
        pattern=rb"""(?:^"""
        rb"""|[\s"'])(?:-u|--user|--proxy-user|-U)[ \t=]+["']?([A-Za-z0-9_.@+-]{1,64}"""
        rb""":[^\s"'`\\$<>]{3,128})""",
        trigger=rb"(?:-u|--user|--proxy-user|-U)(?:[=\"' ]|" + GAP + rb")",
        examples=(("curl -sSL \\\n  -u ", "demo_user:k1m2n3p4", " https://example.org"),),
        misses=(("docker run -u ", "1000:1000"), ("chown -u ", "root:root")),
        accept=plausible.pair,
        vague=1,
    ),
    Rule(
        id="pgpass",
        cls="password_value",
        pattern=rb"(?m)(?:^"
        rb"|[\s\"'])[\w.*-]{1,100}:(?:[0-9]{2,5}|\*):[\w.*-]{1,64}:[\w.*@-]{1,64}"
        rb":([^\s:\"'`]{4,128})[ \t\"']*$",
        trigger=rb":(?:[0-9]{2,5}|\*):[A-Za-z0-9_.*-]{1,64}:[A-Za-z0-9_.*@-]{1,64}:",
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
        id="chain_key",
        cls="wallet_key",
        pattern=EDGE
        + rb"([xyzt]prv[1-9A-HJ-NP-Za-km-z]{100,112}|[5KL9c][1-9A-HJ-NP-Za-km-z]{50,51})(?:[^0-9A-Za-z]|$)",
        trigger=rb"[xyzt]prv[1-9A-HJ-NP-Za-km-z]{8}|(?i)wif|bitcoin|wallet|priv(?:ate)?[ _.-]?key",
        examples=(
            (
                "",
                "xp",
                "rv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvv",
                "NKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi",
                " x",
            ),
        ),
        misses=(("5K", "a1B2" * 12),),
        accept=plausible.wallet,
    ),
    Rule(
        id="wallet_hex",
        cls="wallet_key",
        pattern=rb"""(?i)(?:private[ _.-]?key|priv[ _.-]?key|mnemonic[ _.-]?key"""
        rb"""|eth[ _.-]?key|signer|wallet)"""
        rb"""[^\r\n0-9a-f]{1,24}?((?:0x)?[0-9a-f]{64})(?:[^0-9a-f]|$)""",
        trigger=rb"(?i)(?:priv(?:ate)?|mnemonic|eth)[ _.-]?key|signer|wallet",
        examples=(("privateKey: '", "0x" + "a1b2" * 16, "'"),),
        misses=(("private key ", "a1b2c3"),),
        vague=1,
    ),
    Rule(
        id="seed_phrase",
        cls="seed_phrase",
        pattern=rb"(?i)((?:" + _WORD + rb"\s{1,2}){11,}" + _WORD + rb")",
        trigger=rb"(?i)seed|mnemonic|phrase|recover|wallet|backup|words",
        examples=(
            (
                "seed: ",
                "legal winner thank year wave ",
                "sausage worth useful legal winner thank yellow",
                "\n",
            ),
        ),
        misses=(("seed: ", "legal winner thank year wave sausage worth useful legal winner thank year"),),
        within=checksums.seed_phrases,
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
)
