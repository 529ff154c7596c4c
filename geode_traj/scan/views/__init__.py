"""Decoded views of a text, and the way back from a place in a view to the characters it was decoded from."""
