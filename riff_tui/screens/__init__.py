"""Screens: the debugger, and what opens over it."""
