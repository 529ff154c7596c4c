"""The verbs, each found by its file name."""
