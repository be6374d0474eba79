"""The local HTTP API: the dispatcher on the loopback interface, behind a token (contract 3.5)."""
