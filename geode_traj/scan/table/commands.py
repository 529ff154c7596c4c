"""Secrets in command lines: options, pairs of user and password, what is piped into a program."""

from __future__ import annotations

from typing import Final

from geode_traj.scan import plausible
from geode_traj.scan.rules import GAP, Rule

_USER: Final = (
    rb"(?:-u|--user|--proxy-user|-U|--auth)(?:[=\"' ]|" + GAP + rb")|-u[A-Za-z0-9_.-]+:|-a [A-Za-z0-9_.@+-]+:"
)

RULES: tuple[Rule, ...] = (
    Rule(
        id="command_option",
        cls="password_value",
        pattern=rb"""(?i)(?:^|[\s"'`\\])--(?:[a-z0-9]+-)*"""
        rb"""(?:password|passwd|passphrase|token|secret|api-?key|access-key|secret-key)(?:=|[ \t]+)["']?"""
        rb"""([^\s"'`\\=-][^\s"'`\\]{5,})""",
        trigger=rb"(?i)--[a-z0-9-]*(?:pass|token|secret|key)[a-z]*(?:=|" + GAP + rb")",
        examples=(("deploy --auth-token ", "a1B2c3D4e5", " --to x"), ("run --password=", "hunter2x", "\n")),
        misses=(("run --token ", "$TOKEN"), ("run --password ", "<password>"), ("run --token ", "--verbose")),
        accept=plausible.assigned,
        vague=2,
    ),
    Rule(
        id="curl_user",
        cls="basic_auth",
        pattern=rb"""curl(?:[ \t][^\r\n]{0,300}?)?[ \t](?:-u|--user)[ \t=]*["']?"""
        rb"""([^\s"'`\\:$<]*:[^\s"'`\\$<]{3,}|[^\s"'`\\:$<]{8,}:(?:[\s"']|$))""",
        trigger=_USER,
        examples=(("$ curl -s -u ", "demo_user:" + "s3cr3t9", " https://example.org"),),
        misses=(("curl -u ", "$USER:$PASS"), ("curl -u ", "demo_user:password")),
        accept=plausible.login,
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
        rb"""|net use \S{1,8} \S{1,100} ["']?([^\s"'`\\*/][^\s"'`\\]{3,127})["']? /user:"""
        rb"""|htpasswd[ \t]+-[a-zA-Z]*b[a-zA-Z]*[ \t]+\S{1,100}[ \t]+\S{1,64}[ \t]+["']?"""
        rb"""([^\s"'`\\$-][^\s"'`\\]{3,127})"""
        rb"""|-pass(?:in|out)? pass:["']?([^\s"'`\\]{4,128})""",
        trigger=rb"(?:mysql|mariadb|mycli|sshpass|unzip|7z|ldapsearch|htpasswd|redis-cli)[a-z]*"
        + GAP
        + rb"|zip -|net use |pass:",
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
        rb"""|[\s"'])(?:-[uUa]|--user|--proxy-user|--auth)[ \t=]+["']?([A-Za-z0-9_.@+-]{1,64}"""
        rb""":[^\s"'`\\$<>]{3,128})""",
        trigger=_USER,
        examples=(("curl -sSL \\\n  -u ", "demo_user:k1m2n3p4", " https://example.org"),),
        misses=(("https -a ", "demo:demo"), ("docker run -u ", "1000:1000"), ("chown -u ", "root:root")),
        accept=plausible.pair,
        vague=1,
    ),
    Rule(
        id="login_option",
        cls="password_value",
        pattern=rb"""(?:-u|--user(?:name)?)[ \t=]["']?[^\s"'`\\]{1,64}["']?[ \t]+(?:-p|--pass(?:word)?)"""
        rb"""[ \t=]+["']?([^\s"'`\\$-][^\s"'`\\]{3,127})""",
        trigger=rb"(?:-u|--user(?:name)?)[ =][^ ]+ (?:-p|--pass)",
        examples=(("docker login -u demo_user -p ", "k1m2n3p4", " registry.example.org"),),
        misses=(("docker run -u demo -p ", "8080:8080 app"), ("login -u demo -p ", "$PW")),
        accept=plausible.spoken,
        vague=1,
    ),
    Rule(
        id="piped",
        cls="password_value",
        pattern=rb"""echo[ \t]+(?:-n[ \t]+)?["']?(?:[\w.-]{1,64}:)?([^\s"'`\\|<>$]{6,128})["']?[ \t]*\|"""
        rb"""[^\r\n|]{0,80}(?:--password-stdin|--passphrase-fd|sudo -S|chpasswd|passwd --stdin)""",
        trigger=rb"--password-stdin|--passphrase-fd|sudo -S|chpasswd|passwd --stdin",
        examples=(
            ("echo '", "k1m2n3p4", "' | sudo -S reboot"),
            ("echo ", "k1m2n3p4", "|docker login --password-stdin"),
        ),
        misses=(("echo ", "$PW | docker login --password-stdin"),),
        accept=plausible.spoken,
        vague=1,
    ),
    Rule(
        id="share_user",
        cls="password_value",
        pattern=rb"""[ \t]-U[ \t]*["']?[\w.\\/-]{1,64}%([^\s"'`\\]{4,128})""",
        trigger=rb"-U ?[^ %]+%",
        examples=(("smbclient //nas/demo -U demo_user%", "k1m2n3p4", " -c ls"),),
        misses=(("smbclient //nas/demo -U demo_user%", "$PW"),),
        accept=plausible.spoken,
        vague=1,
    ),
    Rule(
        id="powershell",
        cls="password_value",
        pattern=rb"""(?i)ConvertTo-SecureString[ \t]+(?:-(?:AsPlainText|Force|String)[ \t]+){0,3}"""
        rb"""["']?([^\s"'`$(-][^\s"'`]{3,127})"""
        rb"""|[ \t]-(?:admin|account)?Password[ \t]+["']?([^\s"'`$(-][^\s"'`]{3,127})"""
        rb"""|[ \t]/(?:pass|password):["']?([^\s"'`%$][^\s"'`]{3,127})""",
        trigger=rb"(?i)-SecureString|-(?:admin|account)?password |/(?:pass|password):",
        examples=(
            ("$pw = ConvertTo-SecureString '", "k1m2n3p4", "' -AsPlainText -Force"),
            ("New-LocalUser -Name demo -Password ", "k1m2n3p4", "\n"),
            ("cmdkey /add:nas /user:demo /pass:", "k1m2n3p4", "\n"),
        ),
        misses=(
            ("ConvertTo-SecureString ", "$plain -AsPlainText"),
            ("New-LocalUser -Password ", "$secure2pw"),
        ),
        accept=plausible.spoken,
        vague=1,
    ),
    Rule(
        id="secret_set",
        cls="password_value",
        pattern=rb"""secrets? set [\w-]{1,64}[^\r\n]{0,80}?(?:--body|-b)[ =]["']?"""
        rb"""([^\s"'`\\$][^\s"'`\\]{5,})""",
        trigger=rb"secrets? set ",
        examples=(("gh secret set DEMO_PW --body '", "k1m2n3p4", "'\n"),),
        misses=(("gh secret set DEMO_PW --body ", '"$PW"'),),
        accept=plausible.spoken,
        vague=1,
    ),
)
