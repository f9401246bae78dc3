"""Files that commands write: nothing that a user keeps is overwritten."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from labels.errors import UserError

_SQLITE = b"SQLite format 3\x00"


def write_text(path: Path, text: str, *, never: Iterable[Path] = ()) -> None:
    """Write a text file; UserError when it is a project, one of the files in use, or cannot be written."""
    check_target(path, never)
    try:
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise UserError(f"Cannot write {path}: {error.strerror}.") from error


def check_target(path: Path, never: Iterable[Path] = ()) -> None:
    """UserError when writing to the path would destroy a project or a file that is being read."""
    if any(path.exists() and other.exists() and path.samefile(other) for other in never):
        raise UserError(f"{path} is in use here; choose another file to write to.")
    if path.is_file() and _begins_as_database(path):
        raise UserError(f"{path} is a database, perhaps a project; choose another file to write to.")


def _begins_as_database(path: Path) -> bool:
    try:
        with path.open("rb") as handle:
            return handle.read(len(_SQLITE)) == _SQLITE
    except OSError:
        return False


def read_utf8(path: Path) -> str:
    """The text of a file; UserError when it is missing or is no UTF-8."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(
            f"{path} cannot be read as text: {error}. Check the path; save it as UTF-8."
        ) from error
