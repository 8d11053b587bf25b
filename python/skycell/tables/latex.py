"""A table as LaTeX, with the rules of the package booktabs."""

from __future__ import annotations

import re

from skycell.tables.table import Cell, Table

_ESCAPED = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    # OT1, the encoding of a document that asks for no other, has these in its mathematics only.
    "<": "$<$",
    ">": "$>$",
    "|": "$|$",
    "\u2212": "$-$",
    "\u00d7": r"$\times$",
    "\u00b1": r"$\pm$",
    "\u00b7": r"$\cdot$",
    "\u2264": r"$\le$",
    "\u2265": r"$\ge$",
    "\u2192": r"$\rightarrow$",
    "\u00b5": r"$\mu$",
    "\u03bc": r"$\mu$",
    "\u00b0": r"$^\circ$",
    "\u00b2": "$^2$",
    "\u0394": r"$\Delta$",
    "\u03a3": r"$\Sigma$",
    "\u03b7": r"$\eta$",
    "\u03c0": r"$\pi$",
    "\u221a": r"$\sqrt{}$",
    "\u2013": "--",
    "\u2014": "---",
    "\u2026": r"\dots{}",
    "\u2019": "'",
    "\u201c": "``",
    "\u201d": "''",
    "\u00a0": "~",
    "\u202f": r"\,",
    "\n": r" \newline ",
}
"""What does not stand for itself in the text of a document."""

_SPECIAL = re.compile("|".join(map(re.escape, _ESCAPED)))


def latex(table: Table) -> str:
    r"""A `table` with the table, its title as caption and its notes below.

    The document says `\usepackage{booktabs}`.

    >>> from skycell.tables.table import columns, number, words
    >>> row = (words("a_b"), number(-1, 1))
    >>> print(latex(Table("Goodput.", columns("TCP", "%", numeric="%"), (row,))))
    \begin{table}
      \caption{Goodput.}
      \begin{tabular}{@{}lr@{}}
        \toprule
        TCP & \% \\
        \midrule
        a\_b & $-$1.0 \\
        \bottomrule
      \end{tabular}
    \end{table}
    """
    kinds = "".join(
        "r" if column.numeric else r"p{.3\textwidth}" if column.prose else "l"
        for column in table.columns
    )
    body = []
    for place, row in enumerate(table.rows):
        body.append(f"{' & '.join(map(_cell, row))} \\\\")
        if place in table.ruled and place < len(table.rows) - 1:
            body.append(r"\midrule")
    lines = [
        r"\begin{table}",
        f"  \\caption{{{escaped(table.heading)}}}",
        f"  \\begin{{tabular}}{{@{{}}{kinds}@{{}}}}",
        r"    \toprule",
        f"    {' & '.join(escaped(column.title) for column in table.columns)} \\\\",
        r"    \midrule",
        *(f"    {line}" for line in body),
        r"    \bottomrule",
        r"  \end{tabular}",
        *(
            f"  \\par\\footnotesize $^{{{place}}}$ {escaped(note)}"
            for place, note in enumerate(table.notes, start=1)
        ),
        r"\end{table}",
    ]
    return "\n".join([*lines, *([latex(table.spread)] if table.spread else [])])


def _cell(cell: Cell) -> str:
    text = escaped(f"{cell.text}, {cell.small}" if cell.small else cell.text)
    return text if cell.note is None else f"{text}$^{{{cell.note}}}$"


def escaped(text: str) -> str:
    r"""A text that LaTeX prints as it is.

    >>> escaped("5 % of n_sources")
    '5 \\% of n\\_sources'
    """
    return _SPECIAL.sub(lambda found: _ESCAPED[found[0]], text)
