"""From transcripts to store rows: plan, assemble, apply."""
