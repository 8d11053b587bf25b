"""The command line as a whole: verbs, help, version, how errors end."""

import io
import json
import os
import re
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from skycell import __version__
from skycell.cli.main import VERBS, main
from skycell.cli.verb import Verb
from tests.unit.cli.calling import skycell

ROOT = Path(__file__).parents[3]


def test_every_verb_is_listed_with_its_own_words() -> None:
    reported = skycell("--help").output
    group = main
    assert isinstance(group, click.Group)
    for verb, line in VERBS.items():
        assert re.search(rf"^  {verb} +{re.escape(line)}$", reported, re.MULTILINE)
        command = group.get_command(click.Context(group), verb)
        assert command is not None
        assert command.name == verb


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_with_an_example(verb: str) -> None:
    reported = skycell(verb, "--help")
    assert reported.exit_code == 0
    _, example = re.split("Examples?:", reported.output)
    assert f"skycell {verb} " in example


@pytest.mark.parametrize("forms", [["--latex", "--json"], ["--json", "--latex"]])
def test_two_forms_of_output_are_one_fault(forms: list[str]) -> None:
    reported = skycell("analyse", "out", *forms)
    assert reported.exit_code == 2
    assert reported.stderr.count("only one of them is allowed") == 1


@pytest.mark.parametrize("group", ["orbit", "store", "trace"])
def test_a_group_without_a_verb_shows_its_help_and_no_error(group: str) -> None:
    reported = skycell(group)
    assert reported.exit_code == 2
    assert "Error" not in reported.output
    assert reported.output == skycell(group, "--help").output


def test_an_example_is_one_line_to_be_copied_however_narrow_the_terminal() -> None:
    assert isinstance(main, click.Group)
    context = click.Context(main)
    for verb in VERBS:
        command = main.get_command(context, verb)
        inner = command.commands if isinstance(command, click.Group) else {"": command}
        for name in inner:
            help_of = [verb, *name.split(), "--help"]
            reported = [
                CliRunner().invoke(main, help_of, terminal_width=width).output
                for width in (40, 1000)
            ]
            examples = [
                re.findall(r"^.* skycell .*$", t[t.index("Example") :], re.M) for t in reported
            ]
            assert examples[0] == examples[1] != []


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_says_what_it_does(verb: str) -> None:
    assert isinstance(main, click.Group)
    command = main.get_command(click.Context(main), verb)
    assert command is not None
    silent = [
        option.name
        for option in command.params
        if isinstance(option, click.Option) and not option.help
    ]
    assert silent == []


def test_the_package_can_be_run_as_a_module_under_the_same_name() -> None:
    command = [sys.executable, "-m", "skycell", "--help"]
    reported = subprocess.run(command, capture_output=True, text=True, check=True)
    assert reported.stdout == CliRunner().invoke(main, ["--help"], prog_name="skycell").output


def test_the_version_is_the_engines() -> None:
    assert skycell("--version").output == f"skycell {__version__}\n"


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("run", "--help")])
def test_an_output_that_takes_nothing_in_is_told_in_one_line(arguments: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "skycell", *arguments]
    with Path("/dev/full").open("w") as full:
        reported = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (reported.returncode, reported.stderr) == (1, "The system: No space left on device\n")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--version",), 0),
        (("reproduce", "--list"), 0),
        (("check", "nowhere.toml"), 2),
        (("run",), 2),
    ],
)
def test_a_result_for_a_closed_output_is_lost_and_that_is_told(
    arguments: tuple[str, ...], code: int
) -> None:
    command = [sys.executable, "-m", "skycell", *arguments]
    whole = subprocess.run(command, capture_output=True, check=False)
    for closed in (1, 2):
        shell = ["sh", "-c", f'exec "$@" {closed}>&-', "sh", *command]
        reported = subprocess.run(shell, capture_output=True, check=False)
        is_lost = closed == 1 and code == 0
        assert (reported.returncode, whole.returncode) == (1 if is_lost else code, code)
        assert reported.stdout == (b"" if closed == 1 else whole.stdout)
        if is_lost:
            assert b"output is closed" in reported.stderr
        else:
            assert reported.stderr == (b"" if closed == 2 else whole.stderr)


def in_encoding(encoding: str, folder: Path, *arguments: str) -> bytes:
    """What a command prints where the output has this encoding."""
    command = [sys.executable, "-m", "skycell", *arguments]
    environment = os.environ | {"PYTHONIOENCODING": encoding}
    reported = subprocess.run(
        command, capture_output=True, check=False, cwd=folder, env=environment
    )
    assert (reported.returncode, reported.stderr) == (0, b"")
    return reported.stdout


def test_what_an_output_has_no_character_for_is_told_as_json_tells_it(tmp_path: Path) -> None:
    file = "re–no.toml"
    (tmp_path / file).write_text('preset = "icccn97-lan"', encoding="utf-8")
    assert in_encoding("latin-1", tmp_path, "check", file).startswith(b"re\\u2013no.toml: fine")
    as_json = in_encoding("latin-1", tmp_path, "check", file, "--json").decode("latin-1")
    assert json.loads(as_json)["files"][0]["file"] == file
    rows = ["tcp,speed", *(f"{tcp},{n}" for tcp in ("re–no", "sack") for n in (1, 2))]
    (tmp_path / "runs.csv").write_text("\n".join(rows), encoding="utf-8")
    table = ("analyse", "runs.csv", "--factor", "tcp", "--response", "speed")
    assert b" re\\u2013no " in in_encoding("ascii", tmp_path, *table)


def test_an_interrupt_on_a_terminal_is_told_below_what_was_typed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr("skycell.cli.main.VerbGroup.get_command", interrupt)
    with pytest.raises(SystemExit) as ended:
        main(["presets"])
    assert ended.value.code == 1
    assert isinstance(sys.stderr, Terminal)
    reported = "\nInterrupted: skycell wrote nothing; the same command starts over.\n"
    assert sys.stderr.getvalue() == reported


@pytest.mark.parametrize("module", ["click", "skycell.cli.main"])
def test_an_interrupt_that_comes_while_the_command_is_loaded_is_told_in_a_line(module: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    home, _, name = project["scripts"]["skycell"].partition(":")
    script = f"""
import os, signal, sys
class Interrupting:
    def find_spec(self, name, *_):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
from {home} import {name}
print(sys.argv[1:])
{name}()
"""
    command = [sys.executable, "-c", script, "presets"]
    reported = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (reported.returncode, reported.stdout) == (1, "['presets']\n")
    assert reported.stderr == "Interrupted: skycell wrote nothing; the same command starts over.\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", str(ROOT / "examples" / "lan.toml"), "--trace", "cwnd", "--out", "out"],
        ["orbit", "series", "jsac98-6x11", "--pair", "new_york", "tokyo", "--duration", "1 min"],
    ],
)
def test_an_interrupt_that_comes_as_arrays_are_made_is_told_in_a_line(
    arguments: list[str], tmp_path: Path
) -> None:
    script = """
import os, signal, sys
class Interrupting:
    def find_spec(self, name, *_):
        if name == "numpy":
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupting())
from skycell.__main__ import main
main()
"""
    command = [sys.executable, "-c", script, *arguments]
    reported = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert reported.returncode == 1
    assert reported.stderr == (
        f"Interrupted: `skycell {arguments[0]}` wrote nothing; the same command starts over.\n"
    )
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_tells_its_faults_together(verb: str) -> None:
    assert isinstance(main, click.Group)
    context = click.Context(main)
    command = main.get_command(context, verb)
    inner = command.commands.values() if isinstance(command, click.Group) else [command]
    assert all(isinstance(found, Verb) for found in inner)


def test_help_is_told_without_any_verbs_module() -> None:
    script = """
import sys
from skycell.cli.main import main
try:
    main(["--help"])
except SystemExit:
    pass
loaded = [name for name in sys.modules if name.startswith(("skycell.", "pydantic", "rich"))]
print(sorted(loaded))
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = ["skycell.cli", "skycell.cli.interrupts", "skycell.cli.main"]
    assert run.stdout.splitlines()[-1] == str(loaded)


def test_progress_is_told_within_two_seconds_on_standard_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from skycell.cli.progress import RunProgress

    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    with RunProgress(10 * 10**12) as progress:
        now = 101.4
        assert progress(10**12)
        assert capsys.readouterr() == ("", "")
        now = 104.0
        assert progress(2 * 10**12)
        reported = capsys.readouterr()
        assert reported == ("", "2.00 of 10 s simulated (20%), about 16 s left\n")
        now = 105.0
        assert progress(3 * 10**12)
        assert capsys.readouterr().err == ""
        now = 114.0
        assert progress(9 * 10**12)
        assert capsys.readouterr().err == "9.00 of 10 s simulated (90%), about 2 s left\n"
