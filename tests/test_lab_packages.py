"""Ready autograders: they are as Gradescope and Classroom 50 publish, and do what they say, with a program in the
place of weft."""

import json
import os
import re
import stat
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path

import jsonschema
import pytest
from weft_host.machine import HostError, UsageError
from weft_host.paths import TOP, VENV
from weft_lab import packages

# Stands in for weft: notes how it was called, leaves a result, and ends with the status that it is told.
WEFT = """#!/bin/sh
printf '%s\\n' "$PWD" "$@" >"$NOTES"
for word; do [ "$last" = --gradescope ] || [ "$last" = --classroom50 ] && echo '{}' >"$word"; last=$word; done
exit ${STATUS:-0}
"""


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A small tree of weft with two labs: its top."""
    top = tmp_path / "top"
    for name, text in {"Makefile": "all:\n", "kernel/main.c": "int main;\n", "docs/x.md": "", "tests/x.py": "",
                       "tests/guest/raw.h": "", "tests/guest/raw.c": "",
                       "build/weft.elf": "", "tools/weft": WEFT,
                       "tools/setup.sh": "#!/bin/sh\necho setup >>$NOTES.setup\nexit ${SETUP:-0}\n",
                       "labs/labs.mk": "", "labs/common/labtest.h": "", "labs/02-park/lab.toml": "",
                       "labs/02-park/skeleton/park.c": "skeleton\n", "labs/02-park/wrong/lost.patch": "",
                       "labs/03-dispatch/lab.toml": ""}.items():
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755 if text.startswith("#!") else 0o644)
    monkeypatch.setattr(packages, "TOP", top)
    return top


@pytest.fixture
def autograder(tree):
    return packages.Autograder("park", tree / "labs/02-park", ["--seeds", "a b", "$x"])


@pytest.fixture
def unpacked(tmp_path, autograder):
    """unpacked(kind): the folder of its zip file, with the modes that the file says."""
    def unpack(kind):
        folder = tmp_path / kind / "source"
        said = packages.write(kind, autograder, tmp_path / "package.zip")
        assert said.startswith(f"{tmp_path}/package.zip: ")
        with zipfile.ZipFile(tmp_path / "package.zip") as archive:
            assert archive.testzip() is None
            for entry in archive.infolist():
                archive.extract(entry, folder)
                mode = entry.external_attr >> 16
                assert stat.S_ISREG(mode)
                (folder / entry.filename).chmod(stat.S_IMODE(mode))
        return folder

    return unpack


def names(folder):
    """The sources in a package."""
    with tarfile.open(folder / "weft.tar.gz") as archive:
        return sorted(archive.getnames())


@pytest.mark.parametrize("git", [False, True])
def test_sources(tree, git):
    """What a grade depends on, and neither other labs nor wrong solutions; also what git does not know yet."""
    if git:
        (tree / ".gitignore").write_text("/build/\n__pycache__/\n")
        for words in (["init", "-q"], ["add", "Makefile"]):
            subprocess.run(["git", *words], cwd=tree, check=True)
    else:
        (tree / "tools/__pycache__").mkdir()
        (tree / "tools/__pycache__/x.pyc").touch()
    assert [str(name) for name in packages.sources(tree / "labs/02-park")] == [
        "Makefile", "kernel/main.c", "labs/02-park/lab.toml", "labs/02-park/skeleton/park.c",
        "labs/common/labtest.h", "labs/labs.mk", "tests/guest/raw.h", "tools/setup.sh", "tools/weft"]


def test_sources_of_this_tree():
    """Without tests and documents, in an archive that Classroom 50 takes."""
    found = {str(name) for name in packages.sources(TOP / "labs/none")}
    assert {"Makefile", "pyproject.toml", "README.md", "LICENSE", "tools/weft", "tools/find-cc",
            "tools/weft_lab/templates/sheet.html", "kernel/kernel.mk"} <= found
    assert not [name for name in found if name.startswith(("docs/", "build/", "."))]
    assert {name.rpartition(".")[0::2][1] for name in found if name.startswith("tests/")} == {"h"}
    assert len(packages._archive(TOP / "labs/none")) < packages.LIMIT // 2


def test_the_command(weft, tmp_path):
    done = weft("grade", "park", "--package", "classroom50", "-o", tmp_path / "park.zip")
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode().startswith(f"{tmp_path}/park.zip: unpack it to CLASSROOM/autograders/ASSIGNMENT")
    with zipfile.ZipFile(tmp_path / "park.zip") as archive:
        archive.extractall(tmp_path / "here")
    found = names(tmp_path / "here")
    assert {"weft/labs/02-park/lab.toml", "weft/labs/common/labtest.c", "weft/labs/labs.mk"} <= set(found)
    assert not [name for name in found if "/wrong/" in name]
    for name in found:  # what the lab's tests include comes along
        if name.startswith("weft/labs/") and name.endswith((".c", ".h")) and "/skeleton/" not in name:
            for wanted in re.findall(r'#include "(.*)"', (TOP / name.removeprefix("weft/")).read_text()):
                places = (Path(name).parent, Path("weft/labs/common"), Path("weft/tests/guest"))
                assert [place for place in places if os.path.normpath(place / wanted) in found], f"{name}: {wanted}"


@pytest.mark.parametrize("kind", packages.KINDS)
def test_the_same_tree_makes_the_same_bytes(tmp_path, autograder, kind, monkeypatch):
    made = []
    for number in range(2):
        monkeypatch.setattr(time, "time", lambda now=1e9 + number * 1000: now)
        packages.write(kind, autograder, tmp_path / "p.zip")
        made.append((tmp_path / "p.zip").read_bytes())
        for path in (packages.TOP / "labs").rglob("*"):
            os.utime(path, (number, number))
    assert made[0] == made[1]


@pytest.mark.parametrize("lab", ["", "Park", "a b", "$(x)", "-x"])
def test_names_of_labs(tmp_path, lab):
    with pytest.raises(UsageError, match="no name of a lab"):
        packages.Autograder(lab, tmp_path)


def test_too_large_for_classroom50(tmp_path, autograder, monkeypatch):
    monkeypatch.setattr(packages, "LIMIT", 100)
    with pytest.raises(HostError, match="Classroom 50 takes 100"):
        packages.write("classroom50", autograder, tmp_path / "p.zip")
    assert not (tmp_path / "p.zip").exists()


# --- Gradescope ----------------------------------------------------------------------------------

def test_gradescope(unpacked):
    """In the root of the archive: setup.sh, and run_autograder, which is executable and says what runs it."""
    folder = unpacked("gradescope")
    assert sorted(os.listdir(folder)) == ["run_autograder", "setup.sh", "weft.tar.gz"]
    for name in ("setup.sh", "run_autograder"):
        assert os.access(folder / name, os.X_OK)
        text = (folder / name).read_bytes()
        assert text.startswith(b"#!/usr/bin/env bash\n")
        assert not [left for left in (b"\r", b"@LAB@", b"@OPTIONS@") if left in text]
    assert "weft/labs/02-park/lab.toml" in names(folder) and "weft/labs/03-dispatch/lab.toml" not in names(folder)


@pytest.mark.parametrize("name", ["setup.sh", "run_autograder"])
def test_shellcheck(unpacked, name):
    done = subprocess.run([VENV / "bin/shellcheck", "--severity=warning", unpacked("gradescope") / name],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.fixture
def gradescope(unpacked, tmp_path):
    """An autograder's image, after setup.sh: its folder, and the environment that names it."""
    top, tools = unpacked("gradescope").parent, tmp_path / "tools"
    tools.mkdir()
    for name in ("apt-get", "make"):  # the packages of Ubuntu, and a whole build, take minutes
        (tools / name).write_text(f'#!/bin/sh\necho {name} "$@" >>$NOTES.tools\n')
        (tools / name).chmod(0o755)
    environment = {"PATH": f"{tools}:{os.environ['PATH']}", "AUTOGRADER": str(top),
                   "NOTES": str(tmp_path / "notes")}
    subprocess.run([top / "source/setup.sh"], env=environment, check=True)
    (top / "submission").mkdir()
    (top / "submission/park.c").write_text("int x;\n")
    return top, environment


def test_gradescope_sets_up(gradescope, tmp_path):
    top, _ = gradescope
    called = (tmp_path / "notes.tools").read_text().splitlines()
    assert [line.split()[0] for line in called] == ["apt-get", "apt-get", "make"]
    assert (tmp_path / "notes.setup").read_text() == "setup\n"
    assert (tmp_path / "notes").read_text().splitlines() == [f"{top}/weft", "setup", "grade"]


def test_gradescope_ends_the_set_up_where_a_step_fails(gradescope, tmp_path):
    """So that the lecturer sees it, and no image is made that grades nothing."""
    top, environment = gradescope
    (tmp_path / "notes").unlink()
    for spoilt in ({"SETUP": "1"}, {"AUTOGRADER": str(top / "nowhere")}):
        done = subprocess.run([top / "source/setup.sh"], env=environment | spoilt, capture_output=True)
        assert done.returncode != 0
        assert not (tmp_path / "notes").exists()  # weft is not called


@pytest.mark.parametrize("status", [0, 69])
def test_gradescope_grades(gradescope, tmp_path, status):
    """A failure of the infrastructure is one of the autograder, without a result of an earlier run."""
    top, environment = gradescope
    (top / "results").mkdir()
    (top / "results/results.json").write_text("old")
    done = subprocess.run([top / "source/run_autograder"], env=environment | {"STATUS": str(status)}, cwd="/")
    assert done.returncode == status
    assert (tmp_path / "notes").read_text().splitlines() == [
        f"{top}/weft", "grade", "park", f"{top}/submission", "--gradescope", f"{top}/results/results.json",
        "--traces", f"{top}/results/traces", "--seeds", "a b", "$x"]
    assert (top / "results/results.json").read_text() == "{}\n"


def test_gradescope_has_the_secret(gradescope, tree, tmp_path):
    top, environment = gradescope
    autograder = packages.Autograder("park", tree / "labs/02-park", secret="x y")
    packages.write("gradescope", autograder, tmp_path / "s.zip")
    with zipfile.ZipFile(tmp_path / "s.zip") as archive:
        archive.extractall(top / "source")
    subprocess.run(["bash", top / "source/run_autograder"], env=environment, check=True)
    *_, option, file = (tmp_path / "notes").read_text().splitlines()
    assert option == "--secret" and open(file).read() == "x y\n"


def test_gradescope_without_weft_has_no_result(gradescope):
    top, environment = gradescope
    (top / "results").mkdir()
    (top / "results/results.json").write_text("old")
    (top / "weft/tools/weft").unlink()
    done = subprocess.run([top / "source/run_autograder"], env=environment, capture_output=True)
    assert done.returncode != 0
    assert not (top / "results/results.json").exists()


# --- Classroom 50 --------------------------------------------------------------------------------

def test_classroom50(unpacked):
    folder = unpacked("classroom50")
    assert sorted(os.listdir(folder)) == ["autograder.py", "runtime.json", "try-park.yaml", "weft.tar.gz"]
    schema = json.loads((TOP / "tools/weft_lab/schemas/classroom50-runtime.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads((folder / "runtime.json").read_text()), schema)
    for spoilt in ({"runs-on": ""}, {"apt": ["x"], "container": {"image": "x"}}, {"more": 1}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(spoilt, schema)


def test_the_workflow_is_one_of_github(unpacked):
    """By GitHub's schema of workflows, which check-jsonschema brings."""
    path = unpacked("classroom50") / "try-park.yaml"
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows"]
    done = subprocess.run([*command, path], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    path.write_text(path.read_text().replace("runs-on:", "runs_on:"))
    assert subprocess.run([*command, path], capture_output=True).returncode == 1


def test_classroom50_takes_no_secret(tree, tmp_path):
    with pytest.raises(UsageError, match="publishes"):
        packages.write("classroom50", packages.Autograder("park", tree, secret="x"), tmp_path / "p.zip")
    assert not (tmp_path / "p.zip").exists()


@pytest.fixture
def classroom50(unpacked, tmp_path):
    """classroom50(STATUS=...) starts autograder.py as Classroom 50's runner does."""
    folder = unpacked("classroom50")
    for name in ("temporary", "checkout"):
        (tmp_path / name).mkdir()

    def grade(**variables):
        return subprocess.run(
            [sys.executable, folder / "autograder.py"], cwd=tmp_path / "checkout", capture_output=True, text=True,
            env={"PATH": os.environ["PATH"], "RUNNER_TEMP": str(tmp_path / "temporary"),
                 "NOTES": str(tmp_path / "notes"), **variables})

    return grade


def test_classroom50_grades(classroom50, tmp_path):
    result = tmp_path / "checkout/result.json"
    result.write_text("the student's own")
    for _ in range(2):  # a second submission on a machine that has weft already
        done = classroom50()
        assert done.returncode == 0, done.stderr
        assert result.read_text() == "{}\n"
        assert (tmp_path / "notes").read_text().splitlines() == [
            f"{tmp_path}/temporary/weft", "grade", "park", f"{tmp_path}/checkout", "--classroom50", str(result),
            "--traces", f"{tmp_path}/temporary/traces", "--seeds", "a b", "$x"]
    assert (tmp_path / "notes.setup").read_text() == "setup\n"


def test_classroom50_says_that_the_grader_failed(classroom50):
    assert classroom50(STATUS="69").returncode == 69


def test_classroom50_without_weft(classroom50, unpacked, tmp_path):
    (tmp_path / "classroom50/source/weft.tar.gz").write_text("no archive")
    (tmp_path / "checkout/result.json").write_text("the student's own")
    done = classroom50()
    assert done.returncode == 1 and done.stderr.startswith("::error::")
    assert not (tmp_path / "checkout/result.json").exists()


def test_the_workflow_finds_the_skeleton(unpacked, tmp_path):
    """Its script, with a program in place of autograder.py."""
    folder = unpacked("classroom50")
    script = (folder / "try-park.yaml").read_text().partition("        run: |\n")[2].partition("      - name:")[0]
    (folder / "autograder.py").write_text("import os\nopen('result.json', 'w').write(str(os.listdir()))\n")
    place = tmp_path / "repository/os-2026/autograders"
    place.mkdir(parents=True)
    folder.rename(place / "park")
    (tmp_path / "temporary").mkdir()
    done = subprocess.run(["bash", "-ec", script], capture_output=True, text=True, env={
        "PATH": os.environ["PATH"], "GITHUB_WORKSPACE": str(tmp_path / "repository"), "CLASSROOM": "os-2026",
        "ASSIGNMENT": "park", "RUNNER_TEMP": str(tmp_path / "temporary")})
    assert done.returncode == 0, done.stderr
    assert "'park.c'" in done.stdout
