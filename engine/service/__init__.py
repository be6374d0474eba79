"""The doors of the engine: command line and HTTP."""
