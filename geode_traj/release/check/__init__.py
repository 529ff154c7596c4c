"""The checker of releases: pure, read-only, sharing nothing with what makes them but names."""
