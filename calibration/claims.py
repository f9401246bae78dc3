"""One run of a judge at a time: two at once would pay twice for each answer."""

from __future__ import annotations

import fcntl
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from labels.errors import UserError


@contextmanager
def claimed(project: Path, criterion_id: str, *, name: str) -> Iterator[None]:
    """Hold the judge's name while its run is under way; UserError when another process holds it.

    The claim ends with the process, however it ends. The file beside the project holds nothing: each name
    has one byte of it.
    """
    text = f"{criterion_id}\x1f{name}".encode(errors="surrogateescape")
    place = int(hashlib.sha256(text).hexdigest()[:7], 16)
    with Path(f"{project}-runs").open("ab") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
        except OSError as error:
            raise UserError(
                f"A run of {name} is under way already; wait until it ends, or stop it on the Judge page."
            ) from error
        yield
