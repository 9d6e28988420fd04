"""Plots as SVG text for the pages: the same bytes each time, and the colours of the page.

matplotlib draws with colours that stand for others (INK and so on); in the text that it gives they
become currentColor and the style sheet's variables, so a drawing is readable on light and on
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

from .. import cells, words
from ..runner import OK

INK, GRID = "#0a0b0c", "#0a0b0d"
SERIES = [f"#f000{n:02x}" for n in range(1, 9)]
MARKERS = "osD^vP*X"
SIZE = (5.6, 3.5)
READABLE = 5  # bars and curves of two panels have one scale if neither is so many times as high


def _style(name):
    # The salt makes the names of parts the same in each run, and different in each plot.
    return {"svg.hashsalt": name, "svg.fonttype": "none", "font.size": 9,
            "text.color": INK, "axes.edgecolor": INK, "axes.labelcolor": INK, "xtick.color": INK,
            "ytick.color": INK, "axes.grid": True, "grid.color": GRID, "grid.linewidth": 0.6,
            "axes.spines.top": False, "axes.spines.right": False,
            "axes.prop_cycle": matplotlib.cycler(color=SERIES), "legend.frameon": False,
            "axes.axisbelow": True, "axes.titlesize": 10}


def draw(experiment, rows, view, number, tables):
    """The drawing of a [[plots]] entry: {title, note, svg}; None if nothing of it was measured."""
    name = f"{experiment.name}-{number}"
    title = view.get("title") or experiment.title
    unit = cells.unit_of(experiment, view) if "values" not in view else view.get("unit", "")
    unit = "" if "over" in view else unit
    ours, note = _curves(experiment, rows, view), view.get("note", "")
    if not ours:
        return None
    panels = [("weft" if view.get("paper") else "", ours, unit)]
    if view.get("paper") and "values" in view:
        panels.append(("the paper", *_paper_values(experiment, tables, view)))
    elif view.get("paper"):
        theirs = next((table for table in tables if table.paper), None)
        if theirs is not None:
            panels.append(("the paper", _paper_curves(experiment, theirs, view),
                           theirs.view["paper"].get("unit", "")))
    with matplotlib.rc_context(_style(name)):
        figure = Figure(figsize=(SIZE[0] * (1.5 if len(panels) == 2 else 1), SIZE[1]),
                        layout="constrained")
        axes = figure.subplots(1, len(panels), squeeze=False)[0]
        for place, (said, curves, panel_unit) in zip(axes, panels):
            _panel(place, view, curves)
            place.set_title(said)
            place.set_xlabel(_x_title(experiment, view))
            place.set_ylabel(_y_title(experiment, view, panel_unit))
            if view.get("form") == "histogram":
                place.set_xlabel(_y_title(experiment, view, panel_unit))
                place.set_ylabel("runs")
        if len(panels) == 2:
            note = f"{note} {_scales(axes, panels)}".strip()
        # The names are the same in both panels, except those of several figures.
        for place in axes if "values" in view else axes[:1]:
            if len(ours) > 1:
                _legend(place, view, len(ours))
        text = _svg(figure)
    return {"title": title, "note": note, "summary": view.get("summary", []),
            "wide": len(panels) == 2,
            "svg": Markup(_for_page(text, name, title))}


def draw_break_even(picture):
    """The drawing of a breakeven.Picture: {title, svg}, with a line at 1, and one where a curve passes it."""
    name = f"break-even-{picture.name}"
    with matplotlib.rc_context(_style(name)):
        figure = Figure(figsize=SIZE, layout="constrained")
        axes = figure.subplots()
        _panel(axes, {"log": picture.log}, {curve.title: [list(one) for one in zip(*curve.points)]
                                            for curve in picture.curves.values()})
        if "y" not in picture.log:
            quotients = [y for curve in picture.curves.values() for _, y in curve.points]
            axes.set_ylim(min(0.85, *quotients) - 0.05, max(1.15, *quotients) + 0.05)
        axes.axhline(1, color=INK, linewidth=0.8)
        for curve, color in zip(picture.curves.values(), SERIES):
            for x in curve.crossings():
                axes.axvline(x, color=color, linewidth=0.8, linestyle="--")
                axes.annotate(f"{x:.3g}", (x, 1), (4, -11), textcoords="offset points", color=INK)
        axes.set_xlabel(picture.x_title)
        axes.set_ylabel(picture.y_title)
        axes.legend()
        text = _svg(figure)
    return {"title": picture.title, "svg": Markup(_for_page(text, name, picture.title))}


# For both grounds; a file knows no style sheet.
FIXED = {"currentColor": "#768390", "var(--grid)": "#8b949e55", "var(--series-1)": "#1f6feb",
         "var(--series-2)": "#c2410c", "var(--series-3)": "#15803d", "var(--series-4)": "#a21caf"}


def for_file(svg):
    """A drawing of the page as a file of its own, readable on light and dark ground."""
    svg = str(svg)
    for variable, color in FIXED.items():
        svg = svg.replace(variable, color)
    return svg if svg.endswith("\n") else svg + "\n"


def _svg(figure):
    """The text of a drawing.  The layout is the result of a solver, whose last digits depend on the processor;
    rounded, it is the same on each host."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for axes in figure.axes:
        axes.set_position([round(part, 4) for part in axes.get_position().bounds])
    text = io.StringIO()
    figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    return text.getvalue()


def _legend(axes, view, count):
    """Above the bars; among lines, where there is room."""
    if view.get("form", "line") == "line":
        axes.legend()
        return
    low, high = axes.get_ylim()
    axes.set_ylim(low, high * (high / low) ** 0.15 if axes.get_yscale() == "log" else high * 1.15)
    axes.legend(loc="upper center", ncols=count)


def _scales(axes, panels):
    """Puts weft's panel and the paper's on one scale if both can be read there; what to tell the
    reader."""
    limits = [place.get_ylim() for place in axes]
    tops = [max((y for _, ys in curves.values() for y in ys), default=0) for _, curves, _ in panels]
    logarithmic = axes[0].get_yscale() == "log"
    if panels[0][2] == panels[1][2] and (logarithmic or min(tops) * READABLE > max(tops)):
        for place in axes:
            place.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))
        return "Both on one scale."
    return ("Not on one scale: weft's work and machine are not the paper's. Compare the shapes, not "
            "the heights.")


def _x_title(experiment, view):
    if "x_title" in view:
        return view["x_title"]
    return words.axis(experiment, view["x"]) if "x" in view else ""


def _y_title(experiment, view, unit):
    if "y_title" in view:
        return view["y_title"]
    if "relative" in view:
        return f"more than {cells.describe(experiment, view['relative'])}, %"
    if "over" in view:
        return "mean, over that of the first"
    if "values" in view:
        return words.titled(view.get("statistic", "mean") if view.get("statistic") != "sd"
                            else "standard deviation", unit)
    return words.titled(words.name(experiment, cells.figure_of(experiment, view)), unit)


def _curves(experiment, rows, view):
    """{label: ([x], [y])}; of a histogram ([], [all values]); of several values their headings."""
    good = [row for row in rows if cells.matches(row, view.get("where", {}))
            and row.get("status", OK) == OK]
    series = view.get("series", "configuration" if "configuration" in experiment.axes else None)
    figure = view.get("value", experiment.figure)
    if "values" in view:
        return _values(experiment, good, view, series)
    divide = cells.divisor(experiment, view)
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


def _values(experiment, rows, view, series):
    """Of several figures: one bar a figure, in groups by x, or by the figures' headings."""
    def mean(found, name):
        values = [row[name] / cells.divisor(experiment, view, name) for row in found
                  if isinstance(row.get(name), (int, float))]
        return cells.statistic(values, view.get("statistic", "mean")) if values else None

    def curve(points):
        return _sorted({at: value for at, value in points if value is not None})

    if "x" in view:
        xs = list(dict.fromkeys(row[view["x"]] for row in rows))
        return {heading: curve((x, mean([row for row in rows if row[view["x"]] == x], name))
                               for x in xs) for name, heading in view["values"].items()}
    found = {label: {heading: mean([row for row in rows if row[series] == label], name)
                     for name, heading in view["values"].items()}
             for label in dict.fromkeys(row[series] for row in rows)}
    return {_label(experiment, series, label): curve(points.items())
            for label, points in _over(found, view).items()}


def _over(found, view):
    """{label: {heading: value}}, each value over that of the label that `over` names."""
    if "over" not in view:
        return found
    base = found.get(view["over"], {})
    return {label: {at: value / base[at] for at, value in points.items()
                    if value is not None and base.get(at)} for label, points in found.items()}


def _paper_values(experiment, tables, view):
    """Of the paper's tables of statistics, one a figure; and their unit."""
    found, unit, called = {}, "", {}
    for name, heading in view["values"].items():
        table = next((one for one in tables if one.paper and one.columns_axis == "statistic"
                      and one.view.get("value", experiment.figure) == name), None)
        unit = table.view["paper"].get("unit", "") if table else unit
        for (label, statistic), value in table.paper.items() if table else ():
            if statistic == view.get("statistic", "mean"):
                called[label] = table.view["paper"].get("titles", {}).get(label, str(label))
                found.setdefault(label, {})[heading] = value
    return ({called[label]: _sorted(points) for label, points in _over(found, view).items()},
            "" if "over" in view else unit)


def _label(experiment, series, label):
    return words.point(experiment, series, label) if series else ""


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
            _bars(axes, view, curves)
        case _:
            for (label, (xs, ys)), marker in zip(curves.items(), MARKERS * len(curves)):
                axes.plot(xs, ys, label=label, marker=marker, markersize=4, linewidth=1.4)
    scales = view.get("log", "")
    xs = sorted({x for xs, _ in curves.values() for x in xs if isinstance(x, (int, float))})
    if "x" in scales and xs:
        positive = [x for x in xs if x > 0]
        if positive == xs:
            axes.set_xscale("log", base=2)
        else:  # with a place for 0
            axes.set_xscale("symlog", base=2, linthresh=positive[0])
        ticks = [*xs[:len(xs) - len(positive)], *_apart(positive)]
        axes.set_xticks(ticks, [_tick(x) for x in ticks])
        axes.xaxis.set_minor_locator(NullLocator())
    elif view.get("form", "line") == "line" and all(isinstance(x, int) for x in xs):
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.xaxis.set_major_formatter(_tick)
    elif view.get("form") == "histogram":
        axes.xaxis.set_major_formatter(_tick)
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    if "y" in scales:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_minor_formatter(NullFormatter())
    elif view.get("form") != "histogram" and "relative" not in view:
        axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(_tick)


def _tick(value, _=None):
    """A number along an axis, thousands apart."""
    return f"{value:,.10g}" if value < 1e10 else f"{value:g}"


def _apart(xs):
    """Those of rising values whose labels do not touch on a logarithmic axis."""
    kept = xs[:1]
    for x in xs[1:]:
        if math.log(x / kept[-1]) >= math.log(xs[-1] / xs[0]) / 14:
            kept.append(x)
    return kept


def _bars(axes, view, curves):
    labels = list(dict.fromkeys(x for xs, _ in curves.values() for x in xs))
    width = 0.8 / max(len(curves), 1)
    for number, (label, (xs, ys)) in enumerate(curves.items()):
        at = [labels.index(x) + (number - (len(curves) - 1) / 2) * width for x in xs]
        axes.bar(at, [0 if math.isnan(y) else y for y in ys], width, label=label)
    shown = [words.label(view.get("x"), label) for label in labels]
    long = max(map(len, shown), default=0) > 4
    axes.set_xticks(range(len(labels)), shown,
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
