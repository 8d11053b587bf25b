"""The command: `skycell`, or `python -m skycell` where that is not on the path."""

from skycell.cli.interrupts import tell


def main() -> None:
    """Runs the command line, and tells of an interrupt that comes while it is being loaded."""
    try:
        from skycell.cli.main import main as command

        command(prog_name="skycell")
    except KeyboardInterrupt as error:
        tell(error, None)
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
