"""From raw rows to a hydrated call: contract 2."""
