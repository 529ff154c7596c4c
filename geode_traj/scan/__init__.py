"""Text to findings to edits: leaves, views, rules, redaction (no I/O)."""
