"""Tables in files: their formats, their cells, and the rankings that they hold."""
