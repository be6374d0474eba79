"""From a hydrated call and a cursor to answers."""
