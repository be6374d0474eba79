"""The deterministic engine under riff-tui: it reads a retained call and answers questions about it."""

__version__ = "0.1.0"
