"""`python -m skycell`: the command, where it is not on the path."""

from skycell.cli.main import main

if __name__ == "__main__":
    main(prog_name="skycell")
