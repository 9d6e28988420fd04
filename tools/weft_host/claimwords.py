"""What a claim checks, in words."""

from . import cells, words


def spaced(text):
    return text.replace("_", " ")


def _formula(text):
    """An expression as a reader writes it."""
    for sign, written in (("<=", "≤"), (">=", "≥"), ("==", "="), ("*", "·")):
        text = text.replace("2**20", "2²⁰").replace(sign, written)
    return spaced(text)


def expectation(experiment, claim):
    """What is checked, in a line."""
    said = _expected(experiment, claim)
    if not said:
        return ""
    where, each = claim.get("where", {}), claim.get("each", {})
    if where:
        said += f"; {cells.describe(experiment, where)}"
    for name in [each] if isinstance(each, str) else each:
        if isinstance(each, str):
            said += f"; for each {words.each(experiment, name)}"
        else:
            values = each[name] if isinstance(each[name], list) else [each[name]]
            said += "; for " + ", ".join(words.point(experiment, name, one) for one in values)
    return said


def bounds(claim, unit=""):
    return " and ".join(f"{said} {claim[key]:g} {words.sign(unit)}".rstrip() for key, said in
                        (("at_least", "at least"), ("at_most", "at most")) if key in claim)


def _expected(experiment, claim):
    def figure(selection):
        return selection.get("value") or claim.get("value") or experiment.figure

    def divided(over, under):
        return " / ".join(f"({one})" if "," in one else one for one in (over, under))

    def called(selection):
        """Its figure, and what it selects."""
        title, at = words.name(experiment, figure(selection)), cells.describe(experiment, selection)
        return title if at == "all" else f"{title}, {at}"

    def title():
        return words.name(experiment, claim.get("value") or experiment.figure)

    match claim.get("kind"):
        case "ratio":
            over, under = claim["over"], claim["under"]
            if figure(over) != figure(under):
                return f"{divided(called(over), called(under))} is {bounds(claim)}"
            sides = divided(*(cells.describe(experiment, side) + (
                f", {side['experiment']}" if "experiment" in side else "") for side in (over, under)))
            return f"{words.name(experiment, figure(over))}: {sides} is {bounds(claim)}"
        case "range":
            unit = words.unit(experiment, figure(claim["of"]))
            return f"{called(claim['of'])}: {bounds(claim, unit)}"
        case "spread":
            return (f"{called(claim['of'])}: the spread over the seeds, of the mean, is "
                    f"{bounds(claim)}")
        case "order":
            factor = claim.get("factor", 1)
            return (f"{title()}: "
                    + " ≤ ".join(cells.describe(experiment, one) for one in claim["order"])
                    + (f", each {factor:g} times as much" if factor != 1 else ""))
        case "linear":
            return (f"{title()} is a straight line over {words.name(experiment, claim['x'])}, to "
                    f"{claim['tolerance'] * 100:g} %")
        case "staircase":
            return (f"{title()} is a staircase over {words.name(experiment, claim['x'])} with steps of "
                    f"{claim['step']}, to {claim['tolerance'] * 100:g} %")
        case "expression":
            return _formula(claim["check"])
        case "sets":
            first, second = (experiment.configurations[name].title for name in claim["pair"])
            return (f"{title()}: {first} is {claim['share']} against {second} in a share of "
                    f"the samples of {bounds(claim)}")
        case "chi-square":
            names = " from ".join(experiment.configurations[name].title for name in claim["pair"])
            return (f"{title()}: the chi-square test "
                    f"{'tells' if claim['differ'] else 'does not tell'} {names}")
    return ""
