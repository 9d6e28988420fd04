"""The sources are as clang-format would write them, and content ruff and mypy (pyproject.toml)."""



from weft_host import check, project, venv
from weft_host.check import TOP, badly_formatted, c_sources
from weft_host.project import tomllib


def test_formatting():
    files = c_sources()
    assert len(files) > 50
    bad = badly_formatted(files)
    assert not bad, "\n".join(["call make format:", *bad])


def test_a_badly_formatted_file_is_found(tmp_path):
    (tmp_path / ".clang-format").write_bytes((TOP / ".clang-format").read_bytes())
    (tmp_path / "good.c").write_text("int f(void)\n{\n\treturn 1;\n}\n")
    (tmp_path / "bad.c").write_text("int f(void)\n{\n    return 1;\n}\n")
    bad = badly_formatted([tmp_path / "good.c", tmp_path / "bad.c"])
    assert len(bad) == 1
    assert bad[0].startswith(f"{tmp_path}/bad.c:")


def test_python():
    bad = check.ruff()
    assert not bad, "\n".join(bad)


def test_a_bad_line_of_python_is_found(tmp_path):
    (tmp_path / "good.py").write_text("import os\n\nprint(os.sep)\n")
    (tmp_path / "bad.py").write_text(f"import os\n\nx = '{'y' * 120}'\n")
    bad = check.ruff("--config", TOP / "pyproject.toml", tmp_path)
    assert [line.split()[1] for line in bad] == ["F401", "E501"], bad


def test_types():
    bad = check.mypy()
    assert not bad, "\n".join(bad)


def test_a_type_that_does_not_fit_is_found(tmp_path):
    (tmp_path / "bad.py").write_text("from weft_host.machine import Machine\n\nMachine(smp='2')\n")
    bad, = check.mypy(tmp_path / "bad.py")
    assert 'incompatible type "str"; expected "int"' in bad


def test_the_measuring_modules_say_all_their_types():
    """So that the strict rules for them in pyproject.toml name modules that there are."""
    rules = tomllib.loads(project.FILE.read_text())["tool"]["mypy"]["overrides"]
    strict, = [rule["module"] for rule in rules if rule.get("disallow_untyped_defs")]
    assert {"weft_host.machine", "weft_host.guest", "weft_host.experiment", "weft_host.results",
            "weft_host.runner"} <= set(strict)
    for name in strict:
        assert (TOP / "tools" / name.replace(".", "/")).with_suffix(".py").is_file(), name


def test_every_version_is_exact():
    """One figure, or one test, must not depend on the day of the installation."""
    text = tomllib.loads(project.FILE.read_text())
    groups = text["project"]["optional-dependencies"]
    wanted = [*text["project"]["dependencies"], *text["build-system"]["requires"],
              *(package for group in groups.values() for package in group)]
    assert len(wanted) > 10
    assert [package for package in wanted if "==" not in package.partition(";")[0]] == []
    assert set(groups) == set(venv.GROUPS)
