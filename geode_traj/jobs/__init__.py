"""Use cases that join rooms, one a file."""
