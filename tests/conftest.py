"""What all tests share."""

from hypothesis import settings

# The first call of a kernel may compile or load it: no example is slow for that.
settings.register_profile("moreplr", deadline=None)
settings.load_profile("moreplr")
