"""Allocation of variation and residuals of a factorial study."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from skycell.plots import theme
from skycell.plots.factorial_parts import (
    GAP,
    MOST_POINTS,
    Explained,
    domain_of,
    spots,
    value_axis,
)
from skycell.plots.figure import Figure, NothingToDrawError
from skycell.plots.labels import factor, lowered, metric, name

if TYPE_CHECKING:
    pass

COLOURS = {
    "main effect": theme.PALETTE[0],
    "interaction": theme.PALETTE[1],
    "block": theme.PALETTE[4],
    "higher": theme.PALETTE[3],
    "error": theme.AXIS,
}
"""Colour of each kind of component."""

_HEIGHT = 230
"""Of a panel of residuals, pixels."""

KIND_NAMES = {
    "main effect": "main effect",
    "interaction": "interaction of two factors",
    "block": "replication",
    "higher": "higher interactions",
    "error": "error",
}


def allocation_figure(of: Explained) -> Figure:
    """The allocation of variation: a bar for each component, the largest at the top of its kind.

    Raises:
        NothingToDrawError: the response does not vary.
    """
    analysis = of.analysis
    import altair as alt

    if not analysis.varies:
        raise NothingToDrawError(f"{analysis.response} is the same in all runs")
    order = list(COLOURS)
    rows = sorted(analysis.variation, key=lambda row: (order.index(row.kind), -row.share))
    data: list[dict[str, Any]] = [
        {
            "component": " × ".join(map(factor, row.factors)) or row.name,
            "kind": KIND_NAMES[row.kind],
            "percent": 100 * row.share,
            "label": f"{100 * row.share:.1f} %",
            "degrees": row.degrees,
        }
        for row in rows
    ]
    kinds = [kind for kind in order if any(row.kind == kind for row in rows)]
    names = [row["component"] for row in data]
    response = lowered(metric(analysis.response, subject=analysis.subject))
    top = max(row.share for row in rows) * 100
    base = alt.Chart(alt.InlineData(values=data)).encode(
        y=alt.Y(
            "component:N",
            sort=names,
            title=None,
            axis=alt.Axis(labelLimit=260, labelColor=theme.INK, labelFontSize=12),
        ),
        x=alt.X(
            "percent:Q",
            title=f"Share of the variation of {response} (%)",
            scale=alt.Scale(domain=[0, min(110.0, top * 1.12)], nice=False),
            axis=alt.Axis(grid=True, tickCount=6),
        ),
    )
    bars = base.mark_bar(height=15).encode(
        color=alt.Color(
            "kind:N",
            title=None,
            scale=alt.Scale(
                domain=[KIND_NAMES[kind] for kind in kinds], range=[COLOURS[k] for k in kinds]
            ),
        ),
        tooltip=[
            alt.Tooltip("component:N", title="component"),
            alt.Tooltip("percent:Q", title="share (%)", format=".4~g"),
            alt.Tooltip("degrees:Q", title="degrees of freedom"),
        ],
    )
    text = base.mark_text(align="left", dx=5, color=theme.INK, font=theme.FONT_STACK).encode(
        text="label:N"
    )
    whole = f"the sum of squared differences from the mean of the {analysis.runs} runs"
    caption = [f"Sum of squares of each component divided by the total, {whole}."]
    if analysis.design != "balanced":
        caption.append("Cells have different numbers of runs, so the shares need not add up.")
    return of.figure(
        "allocation",
        "where the variation comes from",
        chart=alt.layer(bars, text).properties(width=theme.WIDTH - 180, height=26 * len(data)),
        caption=tuple(caption),
        description="; ".join(f"{row['component']} {row['label']}" for row in data),
    )


def residuals_figure(of: Explained) -> Figure:
    """Residuals against the model's values, and against the normal distribution.

    Raises:
        NothingToDrawError: the model leaves no residuals.
    """
    analysis = of.analysis
    import altair as alt
    from scipy.stats import norm

    if analysis.error.standard_error is None:
        raise NothingToDrawError(f"the model of {analysis.response} leaves no residuals")
    residuals = sorted(analysis.residuals, key=lambda residual: residual.residual)
    count = len(residuals)
    rows: list[dict[str, Any]] = [
        {
            "fitted": own.fitted,
            "residual": own.residual,
            # Blom's plotting positions.
            "normal": float(norm.ppf((place + 0.625) / (count + 0.25))),
            "cell": ", ".join(map(name, own.levels)),
        }
        for place, own in enumerate(residuals)
    ]
    spread = (sum(own.residual**2 for own in residuals) / count) ** 0.5
    edge = max(abs(row["normal"]) for row in rows)
    width = (theme.WIDTH - 3 * GAP) / 2
    domain = domain_of([row["residual"] for row in rows] + [-edge * spread, edge * spread])

    def points(x: str) -> alt.Chart:
        return alt.Chart(alt.InlineData(values=spots(rows, x, "residual", width, _HEIGHT)))

    style: dict[str, Any] = {"filled": True, "size": 28, "opacity": 0.7, "color": theme.PALETTE[0]}
    tooltip = [alt.Tooltip("cell:N"), alt.Tooltip("residual:Q", format=".4~g")]
    response = of.title
    axis_title = f"Residual of {lowered(response)}"
    # A first label that is moved inwards runs into the second where both are long.
    below = alt.Axis(labelFlush=False, labelSeparation=10, tickCount=6)
    y = value_axis("residual", axis_title, domain, True)
    zero = alt.Chart(alt.InlineData(values=[{"zero": 0}])).mark_rule(strokeDash=[4, 3])
    left = alt.layer(
        zero.encode(y=value_axis("zero", axis_title, domain, True)),
        points("fitted")
        .mark_point(**style)
        .encode(
            x=alt.X(
                "fitted:Q",
                title=f"{response}, by the model",
                scale=alt.Scale(zero=False),
                axis=below,
            ),
            y=y,
            tooltip=tooltip,
        ),
    ).properties(width=width, height=_HEIGHT)
    ends = [{"normal": sign * edge, "residual": sign * edge * spread} for sign in (-1, 1)]
    line = alt.Chart(alt.InlineData(values=ends)).mark_line(color=theme.MUTED, strokeWidth=1.2)
    x = alt.X("normal:Q", title="Quantile of the normal distribution", axis=below)
    right = alt.layer(
        line.encode(x=x, y=value_axis("residual", axis_title, domain, False)),
        points("normal")
        .mark_point(**style)
        .encode(x=x, y=value_axis("residual", axis_title, domain, False), tooltip=tooltip),
    ).properties(width=width, height=_HEIGHT)
    found = analysis.diagnostics
    tests = []
    if found.normality_p is not None:
        tests.append(f"Shapiro-Wilk: p = {found.normality_p:.2g}.")
    if found.spread_p is not None:
        factor_name = factor(str(found.spread_factor))
        tests.append(f"Brown-Forsythe, most uneven over {factor_name}: p = {found.spread_p:.2g}.")
    return of.figure(
        "residuals",
        "residuals",
        chart=alt.hconcat(left, right, spacing=3 * GAP),
        caption=(
            "Left: the intervals assume no pattern and the same spread everywhere.",
            "Right: normal residuals lie on the line.",
            *(["Points that fall on one spot are drawn once."] if count > MOST_POINTS else []),
            *tests,
        ),
        description=f"{count} residuals from {rows[0]['residual']:.4g} to "
        f"{rows[-1]['residual']:.4g}, standard error of a run {analysis.error.standard_error:.4g}.",
    )
