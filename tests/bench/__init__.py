"""Measures import, export and verify against a floor; run by `scripts/bench`."""
