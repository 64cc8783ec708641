"""From tables as people have them to the numbers that rankers take."""

from moreplr.vectorizing._frame import FrameVectorizer
from moreplr.vectorizing._text import TextEncoder

__all__ = ["FrameVectorizer", "TextEncoder"]
