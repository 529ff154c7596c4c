"""Transcript formats: one file or folder each, found by scanning this package."""
