"""The version of skycell: that of the package, and which build of it this is."""

from functools import cache
from hashlib import file_digest
from pathlib import Path


@cache
def version() -> str:
    """Version of the package, and a digest of the compiled engine itself: `0.1.0+3f9a12cd77aa`.

    The digest tells two builds of one release apart, whose results may differ.
    """
    from skycell import _core

    with Path(_core.__file__).open("rb", buffering=0) as engine:
        digest = file_digest(engine, "sha256").hexdigest()[:12]
    return f"{_core.VERSION}+{digest}"
