"""Agent transcripts in; verified, reviewed, signed trajectory releases out."""

__version__ = "0.1.0"
