"""What a reader says of the file that it read."""

import json

from skycell.input.account import Account, Added, Assumed, LeftAside
from skycell.input.faults import Fault

WHOLE = Account(
    "a\x1b[2Jb.csv",
    "table of rates",
    {"rows": 3},
    2.5,
    (LeftAside("column", 1, ("lo\x07ss",), "a series of steps has it"),),
    (Assumed("gaps", "1 gap is an outage.", "default", 'gap = "cut"', {"gaps": 1}),),
    (Added("gaps", "1 s of 2 s are in no row.", 1.0, 0.5),),
)


def test_all_parts_of_an_account_are_said_with_their_file() -> None:
    heading, *notes = WHOLE.notes()
    assert "3 rows over 2.5 s" in heading
    assert len(notes) == 3
    assert all(note.startswith("a\\u001b[2Jb.csv: ") for note in notes)
    assert 'gap = "cut"' in notes[1]


def test_what_would_change_a_terminal_is_escaped() -> None:
    shown = "\n".join((*WHOLE.notes(), str(Fault("a\x1b.csv", "b\x07", "\x9b", "c"))))
    assert all(sign.isprintable() or sign == "\n" for sign in shown)


def test_an_account_is_one_object_of_json() -> None:
    found = json.loads(json.dumps(WHOLE.as_dict(), allow_nan=False))
    assert found["left_aside"] == [
        {
            "what": "column",
            "count": 1,
            "names": ["lo\x07ss"],
            "why": "a series of steps has it",
        }
    ]
    assert found["assumed"][0]["numbers"] == {"gaps": 1}
    assert found["added"][0]["part"] == 0.5
