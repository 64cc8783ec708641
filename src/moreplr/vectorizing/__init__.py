"""Tables with columns of any kind as numbers."""

from moreplr.vectorizing._frame import FrameVectorizer
from moreplr.vectorizing._text import TextEncoder

__all__ = ["FrameVectorizer", "TextEncoder"]
