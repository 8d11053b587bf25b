"""Files that come to be together, or not at all."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from skycell.records.staging import Staging


@pytest.fixture
def full_after_two(monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that has room for two files."""
    written: list[Path] = []
    write = Path.write_bytes

    def fill(path: Path, content: bytes) -> int:
        if len(written) == 2:
            write(path, content[:1])
            raise OSError(errno.ENOSPC, "No space left on device")
        written.append(path)
        return write(path, content)

    monkeypatch.setattr(Path, "write_bytes", fill)


def test_files_are_in_their_places_only_in_the_end(tmp_path: Path) -> None:
    first, second = tmp_path / "new" / "a.txt", tmp_path / "b.txt"
    second.write_text("earlier")
    with Staging() as staging:
        staging.write(first, b"one")
        with staging.place(second) as file:
            file.write_text("two")
        assert not first.exists()
        assert second.read_text() == "earlier"
    assert staging.paths == [first, second]
    assert (first.read_text(), second.read_text()) == ("one", "two")
    assert {path.name for path in tmp_path.rglob("*")} == {"new", "a.txt", "b.txt"}


@pytest.mark.usefixtures("full_after_two")
def test_a_disk_that_fills_up_leaves_everything_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("earlier")
    places = [tmp_path / "deep" / "new" / "a.txt", tmp_path / "b.txt", tmp_path / "deep" / "c.txt"]

    def write() -> None:
        with Staging() as staging:
            for place in places:
                staging.write(place, b"content")

    with pytest.raises(OSError, match="No space left") as failed:
        write()
    assert failed.value.filename == str(places[2])
    assert [path.name for path in tmp_path.rglob("*")] == ["b.txt"]
    assert (tmp_path / "b.txt").read_text() == "earlier"


@pytest.mark.parametrize("theirs", [(), ("theirs",)])
def test_an_interrupt_leaves_what_others_have_written(
    tmp_path: Path, theirs: tuple[str, ...]
) -> None:
    def write() -> None:
        with Staging() as staging:
            staging.write(tmp_path / "new" / "a.txt", b"one")
            for name in theirs:
                (tmp_path / "new" / name).touch()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert [path.name for path in tmp_path.rglob("*")] == (["new", *theirs] if theirs else [])


def test_a_place_that_is_a_folder_is_told_by_its_name(tmp_path: Path) -> None:
    place = tmp_path / "a.txt"
    place.mkdir()

    def write() -> None:
        with Staging() as staging:
            staging.write(place, b"one")

    with pytest.raises(OSError, match="directory") as failed:
        write()
    assert failed.value.filename == str(place)
    assert list(tmp_path.iterdir()) == [place]


@pytest.mark.parametrize(
    ("make", "reported"),
    [(os.mkfifo, "it is a device or a pipe, not a file"), (os.mkdir, "Is a directory")],
)
def test_what_is_no_file_is_not_moved_over(
    tmp_path: Path, make: Callable[[Path], None], reported: str
) -> None:
    other, taken = tmp_path / "a.txt", tmp_path / "taken"
    make(taken)
    kind = taken.stat().st_mode

    def write() -> None:
        with Staging() as staging:
            staging.write(other, b"content")
            staging.write(taken, b"content")

    with pytest.raises(OSError, match=reported) as refused:
        write()
    assert refused.value.filename == str(taken)
    assert taken.stat().st_mode == kind
    assert list(tmp_path.iterdir()) == [taken]
