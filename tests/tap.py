"""Reads what a guest test reports (tests/guest/tap.h)."""

import re


def failures(result):
    """What is wrong with a guest test's Result; an empty list: nothing."""
    wrong, passed, plan = [], 0, None
    for line in result.output.splitlines():
        if line.startswith("ok "):
            passed += 1
        elif line.startswith("not ok "):
            wrong.append(line)
        elif match := re.fullmatch(r"1\.\.(\d+)", line):
            plan = int(match[1])
    if plan is None:
        wrong.append("it did not reach its end")
    elif plan != passed + sum(line.startswith("not ok ") for line in wrong):
        wrong.append(f"{plan} checks announced, {passed} passed")
    elif plan == 0:
        wrong.append("it checked nothing")
    if result.status != 0:
        wrong.append(f"status {result.status}")
    return wrong
