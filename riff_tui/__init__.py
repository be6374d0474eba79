"""The terminal client: it draws what the engine answers and knows no rule of the contract."""
