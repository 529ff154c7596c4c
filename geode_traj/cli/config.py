"""Configuration: flag > environment > nearest project file > user file > default (cli.md).

A project file is `geode-traj.toml` or `[tool.geode-traj]` in pyproject.toml, nearest folder upward. It can
add sensitive fields, name a store, and name a review policy that is nowhere looser than the strict one; it
cannot loosen a gate, since it has no key for one.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from geode_traj.errors import WorldError

_KEYS: Final[dict[str, type]] = {"store": str, "sensitive_fields": list, "policy": str}
_STORE_VERBS: Final = ("migrate", "list", "show", "export", "prune", "scan")
_SESSION_VERBS: Final = ("close", "erase", "migrate-records")


def default_store() -> Path:
    """Return the store used when none is named: `sessions.db` in the user's data folder."""
    import platformdirs

    return platformdirs.user_data_path("geode-traj") / "sessions.db"


def default_map() -> dict[str, Any]:
    """Return click's defaults from the configuration files; raise `WorldError` TE103 for a wrong one."""
    store = next((table["store"] for _, table in reversed(files()) if "store" in table), None)
    if store is None:
        return {}
    defaults: dict[str, Any] = {verb: {"store": store} for verb in _STORE_VERBS}
    return {**defaults, "session": {verb: {"store": store} for verb in _SESSION_VERBS}}


def sensitive_fields(given: Iterable[str]) -> tuple[str, ...]:
    """Return the field names of the call and of every configuration file: one adds to the others."""
    configured = [table.get("sensitive_fields", []) for _, table in files()]
    return tuple(dict.fromkeys([*given, *(name for names in configured for name in names)]))


def configured_policy() -> Path | None:
    """Return the policy file that the configuration names, the project's before the user's."""
    return next((Path(table["policy"]) for _, table in reversed(files()) if "policy" in table), None)


def files() -> list[tuple[Path, dict[str, Any]]]:
    """Return the configuration files in effect and what they say: the user's, then the project's."""
    path = user_file()
    user = [(path, _checked(path, _load(path)))] if path.is_file() else []
    return user + _project()


def user_file() -> Path:
    """Return where the user's configuration file is looked for."""
    if sys.platform == "linux":  # what platformdirs says there; importing it costs more than a look
        base = os.environ.get("XDG_CONFIG_HOME", "")
        return Path(base if base.strip() else "~/.config").expanduser() / "geode-traj" / "config.toml"
    import platformdirs

    return platformdirs.user_config_path("geode-traj") / "config.toml"


def _project() -> list[tuple[Path, dict[str, Any]]]:
    folder = Path.cwd()
    for parent in (folder, *folder.parents):
        own = parent / "geode-traj.toml"
        if own.is_file():
            return [(own, _checked(own, _load(own)))]
        shared = parent / "pyproject.toml"
        if shared.is_file() and _names_us(shared):
            tools = _load(shared).get("tool")
            table = tools.get("geode-traj") if isinstance(tools, dict) else None
            if table is not None:
                return [(shared, _checked(shared, table))]
    return []


def _names_us(path: Path) -> bool:
    """Tell whether a shared file may hold our table: most hold none, and need not be parsed."""
    try:
        return b"geode-traj" in path.read_bytes()
    except OSError:
        return True  # `_load` says why


def _load(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise WorldError("TE103", path=path.name, why=str(error), place=str(path)) from None


def _checked(path: Path, table: Any) -> dict[str, Any]:
    if not isinstance(table, dict):
        raise WorldError("TE103", path=path.name, why="not a table", place=str(path))
    for key, value in table.items():
        kind = _KEYS.get(key)
        if kind is None:
            raise WorldError("TE103", path=path.name, why=f"unknown key {key}", place=str(path))
        items = value if isinstance(value, list) else [value]
        if not isinstance(value, kind) or not all(isinstance(item, str) for item in items):
            raise WorldError("TE103", path=path.name, why=f"{key} has the wrong type", place=str(path))
    for key in ("store", "policy"):
        if key in table:
            table[key] = str(path.parent / Path(table[key]).expanduser())
    return table
