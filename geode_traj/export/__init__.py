"""From store rows to trajectory files."""
