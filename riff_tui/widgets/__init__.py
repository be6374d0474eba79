"""Bricks that panes and screens are made of."""
