"""Panes: each is a pure function from one ViewState to the rows that a list draws."""
