"""A table as LaTeX, with the rules of the package booktabs."""

from __future__ import annotations

import re
import unicodedata

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


_LABEL_LENGTH = 40
"""A label is cut after the last whole word within so many signs."""


def latex(table: Table, label: str = "") -> str:
    r"""A `table` with the table, its caption as a sentence, a label, and its notes below.

    The document says `\usepackage{booktabs}`; a comment says so.

    Args:
        table: what to write.
        label: what `\ref` names it by; if empty, `label_of` the table.

    >>> from skycell.tables.table import columns, number, words
    >>> row = (words("a_b"), number(-1, 1))
    >>> print(latex(Table("Goodput.", columns("TCP", "%", numeric="%"), (row,))))
    % \usepackage{booktabs}
    \begin{table}
      \caption{Goodput.}
      \label{tab:goodput}
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
    label = label or label_of(table)
    lines = [
        r"% \usepackage{booktabs}",
        r"\begin{table}",
        f"  \\caption{{{escaped(sentence(table.caption))}}}",
        f"  \\label{{{label}}}",
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
    below = [latex(table.spread, f"{label}-distribution")] if table.spread else []
    return "\n".join([*lines, *below])


def label_of(table: Table) -> str:
    r"""What `\ref` names a table by: `tab:` and the words of its title, without other signs.

    >>> label_of(Table("Values of Table 3 (GEO), means of 5 runs.", (), ()))
    'tab:values-of-table-3-geo-means-of-5-runs'
    """
    plain = unicodedata.normalize("NFKD", table.heading).encode("ascii", "ignore").decode()
    found = "-".join(re.findall("[a-z0-9]+", plain.lower()))
    if len(found) > _LABEL_LENGTH:
        found = found[: _LABEL_LENGTH + 1].rpartition("-")[0] or found[:_LABEL_LENGTH]
    return f"tab:{found or 'table'}"


def sentence(caption: str) -> str:
    """A caption as a sentence: it begins with a capital, if with a plain word, and has an end.

    >>> sentence("conclusions"), sentence("flow1 and others. All of them.")
    ('Conclusions.', 'flow1 and others. All of them.')
    """
    first = caption.split(maxsplit=1)[:1]
    if first and re.fullmatch("[a-z]+[,:]?", first[0]):
        caption = caption[0].upper() + caption[1:]
    return caption if caption.endswith((".", "!", "?", ".)")) else f"{caption.rstrip(':')}."


def _cell(cell: Cell) -> str:
    text = escaped(f"{cell.text}, {cell.small}" if cell.small else cell.text)
    return text if cell.note is None else f"{text}$^{{{cell.note}}}$"


def escaped(text: str) -> str:
    r"""A text that LaTeX prints as it is.

    >>> escaped("5 % of n_sources")
    '5 \\% of n\\_sources'
    """
    return _SPECIAL.sub(lambda found: _ESCAPED[found[0]], text)
