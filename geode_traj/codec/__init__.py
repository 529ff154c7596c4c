"""Bytes to values and back: strict JSON, lines, canonical bytes, digests, schemas, files, safe text."""
