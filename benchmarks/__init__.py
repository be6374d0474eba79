"""Timings of the engine and the terminal client: `python -m benchmarks`."""
