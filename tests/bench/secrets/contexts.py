"""Where secrets stand: texts with § for the secret, written without a look at the rules under test."""

from __future__ import annotations

from typing import Final

CONTEXTS: Final = (
    # prose
    "I rotated it this morning, the new one is § and the old one stops working tonight.",
    "use this for the staging calls: §",
    "Found it in the history of the deploy job (§). Please revoke it.",
    "The key `§` is still valid, so the 401 must come from somewhere else.",
    "배포 스크립트에 §를 그대로 넣어 두었습니다. 확인 부탁드립니다.",
    "새 키는 §입니다.",
    "キーは「§」です。ログに残さないでください。",
    "- [ ] remove §, which somebody committed\n- [ ] add a hook",
    "> did you mean §?\nyes, that one.",
    "| service | value |\n|---|---|\n| staging | § |",
    # code
    'client = Client("§", timeout=30)',
    "const client = new ApiClient({ auth: '§', retries: 3 });",
    'req.Header.Set("X-Access", "§")',
    'let cfg = Config::new(String::from("§"));',
    'curl_setopt($ch, CURLOPT_USERPWD, "§:");',
    'conn = connect(\n    url,\n    "§",\n)',
    "    assert mask('§') == '***'",
    'private static final String K = "§";',
    'Secrets = %{live: "§"}',
    # shells and settings
    "export SERVICE_CREDENTIAL=§",
    "$ echo §|pbcopy",
    "+ deploy --env prod --with § --wait\nok",
    "set -x CI_VALUE '§'",
    "env:\n  - name: UPSTREAM\n    value: §\n",
    "upstream = §\nretries = 2",
    '{"settings": {"upstream": "§", "retries": 2}}',
    "docker run --rm -e UPSTREAM=§ -p 8080:80 app:latest",
    "UPSTREAM=§;MODE=fast",
    '<add key="upstream" value="§" />',
    "@@ -4,2 +4,2 @@\n-UPSTREAM=changeme\n+UPSTREAM=§",
    # output
    "2026-04-11T09:14:02.113Z WARN upstream refused value=§ status=401 took=12ms",
    "requests.exceptions.HTTPError: 401 for url: https://api.example.org/v2/items?auth=§&page=2",
    "Incorrect value provided: §. You can find yours in the console.",
    "  File \"run.py\", line 12, in <module>\n    main('§')\nRuntimeError: refused",
    "src/run.py:12:    main('§')",
    "'upstream': '§',\n 'retries': 2}",
    "[req] > x-upstream: §\\r\\n",
    "ok\t§\t2026-04-11",
)
"""For tokens that say themselves what they are."""

BY_VENDOR: Final = (
    "{VENDOR}_API_KEY=§",
    "export {VENDOR}_TOKEN='§'",
    '{VENDOR}_SECRET: "§"',
    "{vendor}_token = §",
    '"{vendor}ApiKey": "§",',
    "const {vendor} = new Client('§');",
    'token: "§" # {vendor}',
    "my {vendor} key is § and it has all scopes",
    "- {vendor}: §\n- others: see the vault",
    "{vendor}.api.key=§",
    "{vendor} 토큰은 §입니다.",
    "[{vendor}]\ntoken = §\n",
    "curl -H 'X-{vendor}-Key: §' https://api.example.org/v1",
    "    {vendor}:\n      key: §\n",
)
"""The same tokens where their issuer is named, which some scanners ask for."""

_PASSWORD: Final = ("<pass>",)
_QUOTED: Final = ("<quoted>",)
Structure = tuple[tuple[str, ...], tuple[str, ...]]

STRUCTURES: Final[dict[str, Structure]] = {
    # names that say it is secret
    "env assignment": (
        ("<pass>", "<a32>", "<h40>"),
        (
            "DB_PASSWORD=§\nDB_HOST=localhost",
            "export SMTP_PASS='§'",
            "REDIS_PASSWORD=§ make up",
            "MINIO_ROOT_PASSWORD=§",
            "SECRET_KEY_BASE=§\nRAILS_ENV=production",
        ),
    ),
    "key by name": (
        ("<a40>", "<a32>", "<h32>", "<l32>"),
        (
            "CO_API_KEY=§",
            "MISTRAL_API_KEY=§",
            "DD_API_KEY=§",
            'datadog_app_key: "§"',
            "os.environ['ALGOLIA_ADMIN_KEY'] = '§'",
            'const apiKey = "§";',
            "apikey: §\nregion: eu",
            '{"apiKey": "§", "region": "eu"}',
            "client_secret=§&grant_type=client_credentials",
            'export HCAPTCHA_SECRET="§"',
            "api.key=§\napi.url=https://api.example.org",
            "OKTA_TOKEN: 00§",
        ),
    ),
    "code assignment": (
        _PASSWORD,
        (
            'password = "§"\nuser = "svc"',
            "const dbPassword = '§';",
            'var pwd string = "§"',
            'String passphrase = "§";',
            "$config['db_pass'] = '§';",
            "conn = psycopg2.connect(host='db', user='svc', password='§')",
            "self.assertEqual(login('svc', password=\"§\"), 200)",
            "auth: { user: 'svc', pass: '§' }",
            ":password => '§',",
            'let secret: &str = "§";',
        ),
    ),
    "yaml assignment": (
        _PASSWORD,
        (
            "db:\n  user: svc\n  password: §\n",
            "  smtp_password: '§'",
            "ansible_become_pass: §",
            '      MYSQL_ROOT_PASSWORD: "§"',
            "stringData:\n  admin-password: §",
        ),
    ),
    "json assignment": (
        _PASSWORD,
        (
            '{"username": "svc", "password": "§"}',
            '"secretKey": "§",\n"ttl": 60',
            "{'passwd': '§', 'port': 5432}",
            '{"name": "ADMIN_PASSWORD", "value": "§"}',
        ),
    ),
    "ini assignment": (
        _PASSWORD,
        (
            "[mail]\nuser = svc\npassword = §\n",
            "spring.datasource.password=§",
            "password := §",
            "db.pass: §\ndb.user: svc",
        ),
    ),
    "xml assignment": (
        _PASSWORD,
        (
            "<server><username>svc</username><password>§</password></server>",
            '<add name="Password" value="§"/>',
            '<property name="hibernate.connection.password">§</property>',
        ),
    ),
    "terraform": (
        _PASSWORD,
        ('master_password = "§"\n  port = 5432', 'variable "db_password" {\n  default = "§"\n}'),
    ),
    "connection string": (
        _PASSWORD,
        (
            "Server=db,1433;Database=app;User Id=svc;Password=§;Encrypt=True;",
            "DefaultEndpointsProtocol=https;AccountName=demo;Password=§",
            "host=db user=svc password=§ dbname=app",
            "jdbc:sqlserver://db:1433;user=svc;password=§",
        ),
    ),
    "azure storage": (
        ("<base64>",),
        (
            "DefaultEndpointsProtocol=https;AccountName=demostore;AccountKey=§;EndpointSuffix=core.windows.net",
            "Endpoint=sb://demo.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=§",
        ),
    ),
    "azure sas": (
        ("<a30>%2B<a11>%3D",),
        (
            "https://demo.blob.core.windows.net/c/f.csv?sv=2022-11-02&sr=b&sp=r&se=2026-05-01T00%3A00%3A00Z&sig=§",
        ),
    ),
    "aws pair": (
        ("<s40>",),
        (
            "[default]\naws_access_key_id = {id}\naws_secret_access_key = §\nregion = eu-west-1",
            "AWS_SECRET_ACCESS_KEY=§",
            '"SecretAccessKey": "§",',
            "AWS Secret Access Key [None]: §",
            "access_key={id}\nsecret_key=§",
        ),
    ),
    "aws session": (
        ("IQoJb3JpZ2luX2Vj<s300>==",),
        ("AWS_SESSION_TOKEN=§", '"SessionToken": "§", "Expiration": "2026-04-11T10:00:00Z"'),
    ),
    "presigned url": (
        ("<h64>",),
        (
            "https://demo.s3.amazonaws.com/f.csv?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=3600&X-Amz-Signature=§",
        ),
    ),
    # headers
    "bearer": (
        ("<a40>", "<u64>", "<h32>"),
        (
            "Authorization: Bearer §",
            "curl -s https://api.example.org/v1/me -H 'Authorization: Bearer §'",
            "headers = {'authorization': f'Bearer §'}",
            "> authorization: bearer §\n< HTTP/2 401",
            '"Authorization": "Bearer §",',
        ),
    ),
    "basic": (
        ("c3ZjOi<s20>==", "ZGVtbzp<s25>"),
        ("Authorization: Basic §", '-H "Authorization: Basic §"', "proxy-authorization: Basic §"),
    ),
    "token header": (
        ("<h40>", "<a36>"),
        (
            "X-Api-Key: §",
            "-H 'PRIVATE-TOKEN: §'",
            "Authorization: token §",
            "'x-auth-token': '§'",
            "Authorization: SSWS 00§",
            "X-Vault-Token: §",
            "headers['api-key'] = '§'",
            "Ocp-Apim-Subscription-Key: §",
        ),
    ),
    "cookie": (
        ("<a32>", "<h40>", "s%3A<u32>.<a43>"),
        (
            "Cookie: lang=ko; sessionid=§",
            "Set-Cookie: connect.sid=§; Path=/; HttpOnly",
            "curl -b 'PHPSESSID=§' https://app.example.org/",
            "set-cookie: auth_token=§; Secure; SameSite=Lax",
            "document.cookie = 'JSESSIONID=§'",
        ),
    ),
    # command lines
    "curl user": (
        _PASSWORD,
        (
            "curl -u svc:§ https://repo.example.org/a.jar -O",
            "curl --user 'svc:§' https://repo.example.org/",
            "http -a svc:§ GET api.example.org/items",
        ),
    ),
    "mysql": (
        _PASSWORD,
        (
            "mysql -u root -p§ app < dump.sql",
            "mysqldump --user=root --password=§ app > dump.sql",
            "mysqladmin -uroot -p'§' ping",
        ),
    ),
    "command option": (
        _PASSWORD,
        (
            "tool login --username svc --password §",
            "docker login -u svc -p § registry.example.org",
            "az login --service-principal -u app -p § --tenant t",
            "redis-cli -h cache -a § PING",
            "sshpass -p '§' ssh build uptime",
            "mongosh --host db -u svc -p § --quiet",
            "wget --http-user=svc --http-password=§ https://repo.example.org/f",
            "openssl rsa -in k.pem -passin pass:§",
            "ldapsearch -x -D cn=svc,dc=example,dc=org -w § -b dc=example",
            "smbclient //nas/share -U svc%§",
            "7z x backup.7z -p§",
            "unzip -P § backup.zip",
            "net use Z: \\\\nas\\share § /user:svc",
            "htpasswd -bc .htpasswd svc §",
            "echo '§' | sudo -S systemctl restart app",
            "kubectl create secret generic db --from-literal=password=§",
            "gh secret set DEPLOY_PW --body '§'",
            "PGPASSWORD=§ psql -h db -U svc app",
            "twine upload -u svc -p § dist/*",
            "helm install app ./chart --set db.password=§",
            "echo §|docker login -u svc --password-stdin",
        ),
    ),
    "sql": (
        _PASSWORD,
        (
            "CREATE USER svc WITH PASSWORD '§';",
            "ALTER USER 'svc'@'%' IDENTIFIED BY '§';",
            "ALTER ROLE svc PASSWORD '§';",
            "SET PASSWORD FOR svc = PASSWORD('§');",
        ),
    ),
    "powershell": (
        _PASSWORD,
        (
            "$pw = ConvertTo-SecureString '§' -AsPlainText -Force",
            "New-LocalUser -Name svc -Password §",
            '$env:DB_PASSWORD = "§"',
            "cmdkey /add:nas /user:svc /pass:§",
        ),
    ),
    # addresses
    "database url": (
        _QUOTED,
        (
            "postgresql://svc:§@db.internal:5432/app",
            "DATABASE_URL=mysql2://svc:§@db/app?pool=5",
            "mongodb+srv://svc:§@cluster0.example.net/app",
            "engine = create_engine('postgresql+psycopg2://svc:§@db/app')",
            "amqps://svc:§@mq.example.org/vhost",
        ),
    ),
    "redis url": (
        _QUOTED,
        ("REDIS_URL=redis://:§@cache:6379/0", "rediss://default:§@cache.example.org:6380"),
    ),
    "git url": (
        ("<a36>", "<quoted>"),
        (
            "git clone https://svc:§@git.example.org/team/app.git",
            "origin\thttps://oauth2:§@git.example.org/app.git (fetch)",
            "pip install --index-url https://svc:§@pypi.example.org/simple app",
            "https://§@git.example.org/app.git",
        ),
    ),
    "query secret": (
        ("<a32>", "<h32>", "<u40>"),
        (
            "GET /v1/items?api_key=§&page=2 HTTP/1.1",
            "https://api.example.org/feed?access_token=§",
            "wss://live.example.org/ws?token=§",
            "https://maps.example.org/js?v=3&key=§",
            "https://app.example.org/reset?reset_token=§#top",
        ),
    ),
    "webhook": (
        ("<a24>", "<u43>"),
        ("https://example.webhook.office.com/webhookb2/<uuid>@<uuid>/IncomingWebhook/§/<uuid>",),
    ),
    # files
    "netrc": (
        _PASSWORD,
        (
            "machine api.example.org\n  login svc\n  password §\n",
            "machine git.example.org login svc password §",
        ),
    ),
    "pgpass": (_PASSWORD, ("db.example.org:5432:app:svc:§", "$ cat ~/.pgpass\n*:*:*:svc:§")),
    "npmrc": (
        ("<uuid>", "<base30>"),
        (
            "//registry.example.org/:_authToken=§",
            "_auth=§\nalways-auth=true",
            "//npm.example.org/:_password=§",
        ),
    ),
    "docker config": (
        ("c3ZjOk<s34>",),
        ('{"auths": {"registry.example.org": {"auth": "§"}}}', '"ghcr.io": {\n\t\t\t"auth": "§"\n\t\t}'),
    ),
    "kube config": (
        ("<json90>.<u43>", "LS0tLS1CRUdJTi<s200>=="),
        ("users:\n- name: admin\n  user:\n    token: §", "    client-key-data: §\n"),
    ),
    "kube secret": (
        ("<base24>",),
        (
            "apiVersion: v1\nkind: Secret\ndata:\n  password: §\n",
            "kind: Secret\nmetadata:\n  name: db\ndata:\n  token: §",
        ),
    ),
    "password hash": (
        ("$6$<a12>$<a86>", "$2b$12$<a53>", "$argon2id$v=19$m=65536,t=3,p=4$<a22>$<a43>", "$apr1$<a8>$<a22>"),
        (
            "root:§:19500:0:99999:7:::",
            "svc:§",
            "INSERT INTO users VALUES (1, 'svc', '§');",
            "password_hash = '§'",
        ),
    ),
    "wifi": (
        _PASSWORD,
        (
            'network={\n  ssid="office"\n  psk="§"\n}',
            "nmcli dev wifi connect office password §",
            "WIFI:T:WPA;S:office;P:§;;",
        ),
    ),
    "wireguard": (
        ("<s42>A=",),
        ("[Interface]\nPrivateKey = §\nAddress = 10.0.0.2/32", "PresharedKey = §\nAllowedIPs = 0.0.0.0/0"),
    ),
    "totp": (("<b32>", "<b16>"), ("otpauth://totp/demo:svc?secret=§&issuer=demo", "TOTP_SECRET=§")),
    "vapid and jwk": (
        ("<u43>",),
        (
            '{"kty":"EC","crv":"P-256","d":"§","use":"sig"}',
            "VAPID_PRIVATE_KEY=§",
            '{"kty":"OKP","crv":"Ed25519","d":"§"}',
        ),
    ),
    "chain key": (
        ("<h64>",),
        ("PRIVATE_KEY=0x§", 'const wallet = new Wallet("0x§")', "private key: §", "--private-key 0x§"),
    ),
    "wif": (("5K<x49>", "L1<x50>"), ("importprivkey §", "WIF: §")),
    "extended key": (("xprv9s21ZrQH143K<x95>",), ("master: §", "bip32 §")),
    "generated key": (
        ("<h64>", "<base32>", "django-insecure-<p50>"),
        (
            "SECRET_KEY = '§'",
            "app.secret_key = b'§'",
            "JWT_SECRET=§",
            'ENCRYPTION_KEY="§"',
            "RAILS_MASTER_KEY=§",
            "session_secret: §",
        ),
    ),
    "oauth pair": (
        ("<a40>", "<u32>"),
        (
            "client_id=demo-app\nclient_secret=§",
            '"refresh_token": "§"',
            '"access_token":"§","token_type":"Bearer"',
            "CONSUMER_SECRET=§",
            "refreshToken: '§'",
        ),
    ),
    # people's words
    "prose password": (
        _PASSWORD,
        (
            "The password is §, please change it after the first login.",
            "log in as admin with password § and look at the list",
            "pw: §",
            "user svc / pass §",
            'I set the root password to "§" on the new box.',
            "credentials: svc / §",
            "Passwort: §",
            "mot de passe : §",
        ),
    ),
    "korean label": (
        _PASSWORD,
        (
            "비밀번호: §",
            "관리자 비밀번호는 §입니다.",
            "비번은 § 이고 다음 주에 바꿀게요",
            "패스워드 = §",
            "DB 암호 : §\n포트 : 5432",
            "아이디 svc / 비번 §",
            "인증키: §",
            '접속 비밀번호는 "§"로 설정했습니다',
        ),
    ),
    "other label": (
        _PASSWORD,
        (
            "パスワード：§",
            "パスワードは「§」です",
            "密码：§",
            "密码是 §",
            "пароль: §",
            "contraseña: §",
            "senha: §",
        ),
    ),
}

SEED_CONTEXTS: Final = (
    "wallet recovery phrase: §",
    'MNEMONIC="§"',
    "§\n\nkeep it safe",
    "const words = '§'.split(' ')",
    "시드 문구: §",
)
FIELDS: Final = tuple(
    f"@{name}:§" for name in ("password", "apiKey", "client_secret", "accessToken", "DB_PASSWORD", "db-pass")
)
"""`@name:` is the name of the member whose whole value the secret is."""

# Bodies over several lines, made in `kinds.py`.
BLOCKS: Final = (
    "$ cat id_deploy\n§\n$ ",
    "§",
    'KEY = """§"""',
    "key: |\n§\n",
    "here it is:\n\n```\n§\n```\n",
)
PEM_LABELS: Final = (
    "RSA PRIVATE",
    "EC PRIVATE",
    "OPENSSH PRIVATE",
    "PRIVATE",
    "ENCRYPTED PRIVATE",
    "DSA PRIVATE",
)
