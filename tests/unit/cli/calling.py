"""The command as tests call it, and how they read a refusal."""

from click.testing import CliRunner, Result

from skycell.cli.main import main


def skycell(*arguments: object, stdin: str | bytes | None = None) -> Result:
    """What a call of the command told, and its exit code."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin)


def refused(result: Result) -> str:
    """The last line of a refusal, which ends with 2 and draws nothing."""
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    return result.stderr.splitlines()[-1]


def reported_together(result: Result, *reported: str) -> None:
    """Checks that a refusal tells these faults, each by how it begins, and no more."""
    assert (result.exit_code, result.stdout) == (2, ""), result.output
    lines = [line for line in result.stderr.splitlines() if not line.startswith("  ")]
    assert lines[-1] == f"{len(reported)} faults; nothing was run."
    assert len(lines) == len(reported) + 1, lines
    assert all(line.startswith(begin) for line, begin in zip(lines, reported, strict=False)), lines
