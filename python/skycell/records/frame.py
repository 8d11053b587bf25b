"""The frame of a result: a polars frame that says what it needs to become one of pandas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

if TYPE_CHECKING:
    import pandas as pd


class Frame(pl.DataFrame):
    """A polars frame; what is computed from it is one of polars' own."""

    def to_pandas(self, **options: Any) -> pd.DataFrame:
        """The frame as pandas has it, as `polars.DataFrame.to_pandas` makes it.

        Raises:
            ModuleNotFoundError: the extra `pandas` of skycell is not installed.
        """
        try:
            return super().to_pandas(**options)
        except ModuleNotFoundError as error:
            needed = f'to_pandas needs {error.name}: pip install "skycell[pandas]"'
            raise ModuleNotFoundError(needed, name=error.name) from None
