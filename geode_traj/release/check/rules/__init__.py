"""The checks of a release, a file for each family; found by scanning this package."""
