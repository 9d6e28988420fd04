"""Plots as SVG text for the pages: the same bytes each time, and the colours of the page.

matplotlib draws with colours that stand for others (INK and so on); in the text that it gives they
become currentColor and the style sheet's variables, so that one drawing is readable on light and on
dark ground.
"""

import io
import math
import re

import jinja2
import matplotlib
from markupsafe import Markup
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, NullLocator

from .. import cells
from ..runner import OK

INK, GRID = "#0a0b0c", "#0a0b0d"
SERIES = [f"#f000{n:02x}" for n in range(1, 9)]
MARKERS = "osD^vP*X"
SIZE = (5.6, 3.5)


def _style(name):
    # The salt makes the names of parts the same in each run, and different in each plot.
    return {"svg.hashsalt": name, "svg.fonttype": "none", "font.size": 9,
            "text.color": INK, "axes.edgecolor": INK, "axes.labelcolor": INK, "xtick.color": INK,
            "ytick.color": INK, "axes.grid": True, "grid.color": GRID, "grid.linewidth": 0.6,
            "axes.spines.top": False, "axes.spines.right": False,
            "axes.prop_cycle": matplotlib.cycler(color=SERIES), "legend.frameon": False,
            "axes.axisbelow": True, "axes.titlesize": 10}


def draw(experiment, rows, view, number, tables):
    """The drawing of a [[plots]] entry: {title, svg}; None if nothing of it was measured."""
    name = f"{experiment.name}-{number}"
    title = view.get("title") or experiment.title
    panels = [("weft" if view.get("paper") else "", _curves(experiment, rows, view))]
    if not panels[0][1]:
        return None
    if view.get("paper") and "values" in view:
        panels.append((f"the paper, {view.get('unit', '')}".rstrip(", "),
                       _paper_values(experiment, tables, view)))
    elif view.get("paper"):
        theirs = next((table for table in tables if table.paper), None)
        if theirs is not None:
            panels.append((f"the paper, {theirs.view['paper'].get('unit', '')}".rstrip(", "),
                           _paper_curves(experiment, theirs, view)))
    with matplotlib.rc_context(_style(name)):
        figure = Figure(figsize=(SIZE[0] * (1.5 if len(panels) == 2 else 1), SIZE[1]),
                        layout="constrained")
        axes = figure.subplots(1, len(panels), squeeze=False)[0]
        for place, (said, curves) in zip(axes, panels):
            _panel(place, view, curves)
            place.set_title(said)
            place.set_xlabel(view.get("x_title", cells.axis_title(view.get("x", ""))))
            if place is not axes[0] and "values" in view:
                place.legend()  # the paper's own names
        axes[0].set_ylabel(_y_title(experiment, view))
        if view.get("form") == "histogram":
            axes[0].set_xlabel(_y_title(experiment, view))
            axes[0].set_ylabel("runs")
        if len(panels[0][1]) > 1:
            axes[0].legend()
        text = io.StringIO()
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    return {"title": title, "svg": Markup(_for_page(text.getvalue(), name, title))}


def _y_title(experiment, view):
    if "y_title" in view:
        return view["y_title"]
    if "relative" in view:
        return f"% more than {cells.describe(view['relative'])}"
    value = view.get("value", experiment.figure)
    unit = view.get("unit", experiment.unit)
    return unit if value == experiment.figure else value


def _curves(experiment, rows, view):
    """{label: ([x], [y])}; of a histogram ([], [all values]); of several values their headings."""
    good = [row for row in rows if cells.matches(row, view.get("where", {}))
            and row.get("status", OK) == OK]
    series = view.get("series", "configuration" if "configuration" in experiment.axes else None)
    figure = view.get("value", experiment.figure)
    divide = cells.divisor(experiment, view)
    if "values" in view:
        return _values(experiment, good, view, series, divide)
    grouped = {}
    for row in good:
        value = row.get(figure)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            x = row.get(view.get("x"))
            curve = grouped.setdefault(row.get(series) if series else "", {})
            curve.setdefault(x, []).append(value / divide)
    if view.get("form") == "histogram":
        return {_label(experiment, series, label): ([], [v for vs in curve.values() for v in vs])
                for label, curve in grouped.items()}
    means = {label: {x: cells.statistic(values, "mean") for x, values in curve.items()}
             for label, curve in grouped.items()}
    if "relative" in view:
        base = means.pop(view["relative"].get(series), {})
        means = {label: {x: (y / base[x] - 1) * 100 for x, y in curve.items() if base.get(x)}
                 for label, curve in means.items()}
    return {_label(experiment, series, label): _sorted(curve) for label, curve in means.items()}


def _values(experiment, rows, view, series, divide):
    curves = {}
    for label in dict.fromkeys(row[series] for row in rows):
        mine = [row for row in rows if row[series] == label]
        found = {heading: [row[name] / divide for row in mine
                           if isinstance(row.get(name), (int, float))]
                 for name, heading in view["values"].items()}
        curves[_label(experiment, series, label)] = _sorted({
            heading: cells.statistic(values, view.get("statistic", "mean"))
            for heading, values in found.items() if values})
    return curves


def _paper_values(experiment, tables, view):
    """Of the paper's tables of statistics, one a figure; in its units."""
    curves = {}
    for name, heading in view["values"].items():
        table = next((one for one in tables if one.paper and one.columns_axis == "statistic"
                      and one.view.get("value", experiment.figure) == name), None)
        for (label, statistic), value in table.paper.items() if table else ():
            if statistic == view.get("statistic", "mean"):
                called = table.view["paper"].get("titles", {}).get(label, str(label))
                curves.setdefault(called, {})[heading] = value
    return {label: _sorted(curve) for label, curve in curves.items()}


def _label(experiment, series, label):
    if series == "configuration" and label in experiment.configurations:
        return experiment.configurations[label].title
    return (f"{cells.axis_title(series)} {label}" if isinstance(label, (int, float))
            else str(label))


def _sorted(curve):
    numbers = all(isinstance(x, (int, float)) for x in curve)
    xs = sorted(curve) if numbers else list(curve)
    return xs, [curve[x] for x in xs]


def _paper_curves(experiment, table, view):
    curves = {}
    for (row, column), value in table.paper.items():
        curves.setdefault(column, {})[row] = value
    return {_label(experiment, "configuration", label): _sorted(curve)
            for label, curve in curves.items()}


def _panel(axes, view, curves):
    match view.get("form", "line"):
        case "histogram":
            axes.hist([values for _, values in curves.values()], bins=12, label=list(curves),
                      color=SERIES[:len(curves)])
        case "bar":
            _bars(axes, curves)
        case _:
            for (label, (xs, ys)), marker in zip(curves.items(), MARKERS * len(curves)):
                axes.plot(xs, ys, label=label, marker=marker, markersize=4, linewidth=1.4)
    scales = view.get("log", "")
    xs = sorted({x for xs, _ in curves.values() for x in xs if isinstance(x, (int, float))})
    if "x" in scales and xs:
        axes.set_xscale("log", base=2)
        ticks = _apart(xs)
        axes.set_xticks(ticks, [f"{x:g}" for x in ticks])
        axes.xaxis.set_minor_locator(NullLocator())
    elif view.get("form", "line") == "line" and all(isinstance(x, int) for x in xs):
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    if "y" in scales:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.yaxis.set_minor_formatter(NullFormatter())
    elif view.get("form") != "histogram" and "relative" not in view:
        axes.set_ylim(bottom=0)


def _apart(xs):
    """Those of rising values whose labels do not touch on a logarithmic axis."""
    kept = xs[:1]
    for x in xs[1:]:
        if math.log(x / kept[-1]) >= math.log(xs[-1] / xs[0]) / 14:
            kept.append(x)
    return kept


def _bars(axes, curves):
    labels = list(dict.fromkeys(x for xs, _ in curves.values() for x in xs))
    width = 0.8 / max(len(curves), 1)
    for number, (label, (xs, ys)) in enumerate(curves.items()):
        at = [labels.index(x) + (number - (len(curves) - 1) / 2) * width for x in xs]
        axes.bar(at, [0 if math.isnan(y) else y for y in ys], width, label=label)
    long = max((len(str(label)) for label in labels), default=0) > 4
    axes.set_xticks(range(len(labels)), [str(label) for label in labels],
                    rotation=45 if long else 0, ha="right" if long else "center")


def _for_page(svg, name, title):
    """The svg element alone, scalable, in the page's colours, with names of its own."""
    svg = svg[svg.index("<svg"):]
    # Its style sheet would be the whole page's; ours has what it says.
    svg = re.sub(r"<metadata>.*?</metadata>|<defs>\s*<style.*?</style>\s*</defs>", "", svg,
                 flags=re.DOTALL)
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r'((?:xlink:)?href="|url\()#', rf"\1#{name}-", svg)
    svg = svg.replace(INK, "currentColor").replace(GRID, "var(--grid)")
    for number, color in enumerate(SERIES):
        svg = svg.replace(color, f"var(--series-{number + 1})")
    svg = re.sub(r"font: ([^;\"]*?)'[^\"]*?sans-serif", r"font: \1sans-serif", svg)
    said = str(jinja2.filters.escape(title))
    return svg.replace("<svg", f'<svg role="img" aria-label="{said}"', 1)
