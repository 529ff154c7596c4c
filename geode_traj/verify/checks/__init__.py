"""The checks, one file a family; each is found by scanning this package."""
