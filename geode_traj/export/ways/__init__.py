"""Ways out: what a session holds as other formats write it, one module each, with a report of every loss."""
