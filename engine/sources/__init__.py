"""From a call folder to raw rows: contract 1."""
