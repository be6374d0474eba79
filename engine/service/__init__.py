"""The doors of the engine: command line (later HTTP)."""
