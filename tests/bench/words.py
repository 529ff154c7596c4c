"""What the generated transcripts are made of."""

from __future__ import annotations

WORDS = """the the the a a of of to to in is and that for with on this it as from when while before after
    each file test function module session store index query record parser export import event
    line batch cursor thread handler request response payload schema migration fixture config path
    branch commit review release digest value fails passes returns reads writes checks expects
    raises looks keeps drops moves opens closes retries waits holds first second last empty broken
    missing stale wrong correct small large same other new old pending nested typed because
    therefore instead only never always still again now then here there without across between
    under""".split()

WIDE = """세션 기록 파일 테스트 함수 오류 결과 확인 수정 완료 Prüfung größer Änderung Schlüsselwort naïve
    façade coöperate данные проверка ошибка запись 検証 記録 失敗 成功
    文件 测试 修改 完成 ✓ ✗ → … “quoted” — 📎 ⚙️ café""".split()

NAMES = """load_rows parse_line write_batch open_store find_session next_cursor fold_events read_head
    to_json from_row check_order merge_counts split_chunks iter_lines close_all build_index
    count_open render_table""".split()

FILES = """src/store/rows.py src/store/cursor.py src/parse/lines.py tests/test_rows.py
    tests/test_cursor.py README.md docs/guide.md pyproject.toml src/cli/main.py
    src/report/table.py src/app/handlers.ts src/app/view.tsx Makefile""".split()

CODE = (
    "def {name}(rows: list[dict[str, object]], *, limit: int = {n}) -> int:\n"
    '    """Return how many rows were kept."""\n'
    "    kept = 0\n"
    "    for row in rows:\n"
    '        if row.get("kind") != "{word}" and len(row) < limit:\n'
    "            kept += 1\n"
    "    return kept\n",
    "class {camel}:\n"
    "    def __init__(self, path: Path, size: int = {n}) -> None:\n"
    "        self._path = path\n"
    "        self._{word}: dict[str, int] = {{}}\n\n"
    "    def {name}(self, key: str) -> int | None:\n"
    "        return self._{word}.get(key, None)\n",
    "export async function {name}(ids: string[]): Promise<number> {{\n"
    "  const found = await db.all(`SELECT * FROM {word} WHERE n > {n}`);\n"
    "  return found.filter((row) => ids.includes(row.id)).length;\n"
    "}}\n",
    "#!/bin/sh\nset -eu\nfor f in src/*.py; do\n"
    "  wc -l \"$f\" | awk '{{ print $1 > {n} }}'\ndone\n{name} --limit {n}\n",
)
# Code that JSON's escapes make look like an address: rare, but every real transcript has some.
DECORATED = "import pytest\n\n\n@pytest.fixture\ndef {name}(tmp_path):\n    return tmp_path / '{word}-{n}'\n"

OUTPUT = (
    "{file}:{n}: in {name}\n    assert {word} == expected\nE   AssertionError: {word} is {n}, expected {m}\n",
    "{file} {dots} [{n}%]\n",
    "2026-03-{d:02}T10:{d:02}:41Z INFO  {word}: {name} took {n} ms ({m} rows)\n",
    "-rw-r--r-- 1 demo_user demo_user {n:>7} Mar {d:>2} 10:4{q} {file}\n",
    "@@ -{n},7 +{n},9 @@ def {name}(self):\n-    {word} = None\n+    {word} = {m}\n+    # {wide}\n",
    "│ {word:<12} │ {n:>6} │ {m:>6} │ ✓ │\n",
    "  {n} {file} — {wide} {word}\n",
)
