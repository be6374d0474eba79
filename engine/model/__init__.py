"""Nouns of the debugger: frozen values without logic."""
