"""The SQLite shelf: a GEODE `sessions.db` with tables of ours beside it."""
