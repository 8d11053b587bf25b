"""The command of a stranger's bundle: files are read only in the folder where it is carried out."""

from pathlib import Path

from skycell.cli.main import main
from skycell.input.text import files_within

if __name__ == "__main__":
    with files_within(Path.cwd()):
        main(prog_name="skycell")
