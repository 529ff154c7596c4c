"""OpenCode's sessions, wherever they are kept: its SQLite store, its folders of JSON files, its exports."""
