"""The form of a text that is searched: full-width folded, lower case, traditional characters made simplified.

Only search columns and ids hold it; what is stored and shown is always the text as it was written.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

import zhconv


@lru_cache(maxsize=4096)  # a night compares the same sentences over and over
def normalise(text: str) -> str:
    """`text` in the one form that queries and search columns share."""
    folded = unicodedata.normalize("NFKC", text.encode("utf-8", "replace").decode("utf-8")).lower()
    return str(zhconv.convert(folded, "zh-hans"))
