"""Whether the test of the residuals' spread cries wolf: tables of normal runs of one spread."""

import itertools
import random

import pytest

from skycell.stats import analyse, residuals

TABLES = 100
LEVEL = 0.01


def _called_uneven(levels: tuple[int, ...], replications: int) -> tuple[int, int]:
    """Of TABLES tables: those that the test calls uneven at LEVEL, and those where it is asked."""
    rng = random.Random(2026)
    names = [f"f{place}" for place in range(len(levels))]
    cells = list(itertools.product(*map(range, levels)))
    found = [
        analyse(
            [
                {**dict(zip(names, map(str, cell), strict=True)), "y": rng.gauss(0.0, 1.0)}
                for cell in cells
                for _ in range(replications)
            ],
            names,
            "y",
        ).diagnostics.spread_p
        for _ in range(TABLES)
    ]
    asked = [p for p in found if p is not None]
    return sum(p < LEVEL for p in asked), len(asked)


@pytest.mark.parametrize(
    ("levels", "replications"),
    [((2, 2), 3), ((4, 3, 2), 3), ((3, 2, 2), 5), ((3, 3, 3), 3), ((2, 2, 2), 4)],
    ids=str,
)
def test_runs_of_one_spread_are_seldom_called_uneven(
    levels: tuple[int, ...], replications: int
) -> None:
    uneven, asked = _called_uneven(levels, replications)
    assert asked == TABLES
    assert uneven <= 0.05 * TABLES  # 48 of 1000 is the most that 50 designs had (`_LEAST_FREE`)


def test_where_the_model_ties_residuals_together_the_test_would_cry_wolf(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert _called_uneven((2, 2, 2), 2) == (0, 0)  # 9 degrees of freedom for 16 runs: not asked
    monkeypatch.setattr(residuals, "_LEAST_FREE", 0.0)
    uneven, asked = _called_uneven((2, 2, 2), 2)
    assert asked == TABLES
    assert uneven > 0.05 * TABLES
