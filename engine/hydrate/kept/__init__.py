"""A hydrated call, kept as sections and brought back from them (contract 3.6).

What comes back answers as what was kept: its artifact has the same bytes. `call` is the way in.
"""
