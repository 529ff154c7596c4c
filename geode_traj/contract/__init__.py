"""The record contract as pure rules: no I/O."""
