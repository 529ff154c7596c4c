"""Measures what the scanner finds, falsely finds and misses, beside other tools: `scripts/bench secrets`."""
