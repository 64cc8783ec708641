"""Compiled loops of the engine, a file for each role."""
