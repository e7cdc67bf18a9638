"""The wheel: it holds the library and nothing else, and works with the five packages it names."""

import re
import subprocess
import sys
import sysconfig
import textwrap
from importlib import metadata
from pathlib import Path
from shutil import copy
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import ROOT

pytestmark = pytest.mark.slow
README = ROOT / "README.md"


def in_git(folder: str) -> list[str]:
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", folder]
    names = subprocess.check_output(listed, cwd=ROOT, text=True).split("\0")[:-1]
    return [name for name in names if (ROOT / name).exists()]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made as `python -m build` makes it: from the source distribution, which is made first."""
    source, made = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("made")
    for name in [*in_git("infofair"), *in_git("study"), "pyproject.toml", "README.md", "LICENSE"]:
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / name, source / name)
    # without an environment of its own for the build, which would need a network
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(made), str(source)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    [found] = made.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    subprocess.run([*pip, "--no-deps", "--target", str(folder), str(wheel)], check=True)
    return folder


def closure(names: list[str]) -> set[str]:
    """These distributions and whatever they need, as far as it is installed."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name in found:
            continue
        try:
            needed = [Requirement(text) for text in metadata.requires(name) or []]
        except metadata.PackageNotFoundError:
            continue
        found.add(name)
        waiting += [r.name for r in needed if r.marker is None or r.marker.evaluate({"extra": ""})]
    return found


def forbidden(folder: Path) -> set[str]:
    """What is installed here but neither asked for by the wheel nor by what it asks for."""
    [described] = metadata.distributions(path=[str(folder)])
    asked = [Requirement(text) for text in described.requires or []]
    plain = [r.name for r in asked if r.marker is None]
    assert sorted(plain) == ["numpy", "pandas", "scikit-learn", "scipy", "torch"]
    distributions = closure(plain)
    return {
        package
        for package, of in metadata.packages_distributions().items()
        if not {canonicalize_name(name) for name in of} & {*distributions, "infofair"}
    }


# Nothing else can be found, however much is installed where the five packages lie.
ALONE = """
import sys
from importlib.machinery import PathFinder
class Alone(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        hidden = name.partition(".")[0] in {forbidden!r}
        return None if hidden else super().find_spec(name, path, target)
sys.meta_path[sys.meta_path.index(PathFinder)] = Alone
sys.path += {path!r}
"""


def run(code: str, installed: Path, folder: Path) -> str:
    """What the code says in an environment of the five packages and the wheel."""
    path = [str(installed), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    start = ALONE.format(forbidden=forbidden(installed), path=path)
    command = [sys.executable, "-I", "-S", "-W", "error::DeprecationWarning:infofair", "-c"]
    done = subprocess.run(
        [*command, start + textwrap.dedent(code)], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_wheel_holds_the_library_and_nothing_else(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if ".dist-info/" not in name]
        assert any(name.endswith("/licenses/LICENSE") for name in archive.namelist())
    assert sorted(names) == sorted(in_git("infofair"))


def test_what_the_five_packages_need_is_all_that_can_be_imported(
    installed: Path, tmp_path: Path
) -> None:
    code = """
        for name in ("pydantic", "pandera", "dvc", "matplotlib", "study", "stages"):
            try:
                __import__(name)
            except ModuleNotFoundError:
                continue
            print(name)
        import infofair
        print(infofair.__file__)
    """
    assert run(code, installed, tmp_path) == str(installed / "infofair/__init__.py")


def test_metrics_with_the_five_packages_alone(installed: Path, tmp_path: Path) -> None:
    code = """
        import numpy as np
        from infofair import metrics
        predicted, groups = np.array([1, 1, 0, 0]), np.array([0, 0, 1, 1])
        print(metrics.imparity(predicted, groups, 2), metrics.largest_gap(predicted, groups, 2))
    """
    assert run(code, installed, tmp_path) == "1.0 1.0"


def test_every_public_name_and_module_with_the_five_packages_alone(
    installed: Path, tmp_path: Path
) -> None:
    """All but what fetches and checks data, for which there is the extra `data`."""
    code = """
        import pkgutil
        from importlib import import_module
        import infofair
        for name in infofair.__all__:
            getattr(infofair, name)
        for module in pkgutil.walk_packages(infofair.__path__, "infofair."):
            if not module.name.startswith(("infofair.data.", "infofair.datasets")):
                import_module(module.name)
        print("all")
    """
    assert run(code, installed, tmp_path) == "all"


def test_an_audit_with_the_five_packages_alone(installed: Path, tmp_path: Path) -> None:
    code = """
        import sys
        from infofair.auditing import cli
        assert cli.main(["demo", "--out", "demo"]) == 0
        print("torch" in sys.modules)
    """
    assert run(code, installed, tmp_path).splitlines()[-1] == "False"
    assert {path.name for path in (tmp_path / "demo").iterdir()} == {
        "audit.json", "index.html", "model_card.md"
    }  # fmt: skip


def test_the_wheel_has_the_command(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith("/entry_points.txt")]
        assert "infofair = infofair.auditing.cli:main" in archive.read(name).decode()


def test_training_saving_loading_and_predicting_with_the_five_packages_alone(
    installed: Path, tmp_path: Path
) -> None:
    code = """
        import os
        os.environ["INFOFAIR_WORKERS"] = "1"
        from pathlib import Path
        import numpy as np
        from infofair import methods
        from infofair.data.prepared import Prepared
        from infofair.training import fit, model
        from infofair.training.plan import Job, Training

        rng = np.random.default_rng(0)
        y, s = rng.integers(2, size=(2, 400))
        X = np.c_[y + rng.normal(size=400), s + rng.normal(size=400), rng.normal(size=400)]
        rows = np.arange(400, dtype="int32")
        data = Prepared(
            X=(X / np.abs(X).max(0)).astype("float32"), y=y.astype("int8"),
            features=["a", "b", "c"], groups={"gender": s.astype("int16")},
            group_names={"gender": ["f", "m"]}, data="simulated", partition="random",
            split={"train": rows[:240], "validation": rows[240:320], "test": rows[320:]},
        )
        method = methods.make("gdp", learning_rate=0.01)
        job = Job(method, [8], Training(epochs=5, batch_size=32))
        [trained], _ = fit.train(job, data, [0.5], [0], "gdp")
        path = Path("networks.npz")
        model.save_models(path, {("gender", 0.5, 0): trained.parameters}, data.features)
        loaded = model.load_model(path, setting="gender", seed=0)
        found = loaded.predict_proba(data.X[data.split["test"]])
        np.testing.assert_allclose(found, trained.probabilities["test"], atol=1e-5)
        print("learned" if (loaded.predict(data.X) == y).mean() > 0.6 else "guesses")
    """
    assert run(code, installed, tmp_path) == "learned"


def test_the_readmes_estimator_as_written_with_the_five_packages_alone(
    installed: Path, tmp_path: Path
) -> None:
    blocks = re.findall(
        r"^```python\n(.*?)^```$", README.read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    [code] = [block for block in blocks if "InfoFairClassifier" in block]
    said = run(f"{code}\nprint(sorted(model.information_.attributes))", installed, tmp_path)
    assert said.splitlines()[-1] == "['age', 'race', 'sex']"


def test_a_dataset_without_the_extra_says_in_a_line_what_to_install(
    installed: Path, tmp_path: Path
) -> None:
    code = """
        import infofair
        from infofair.errors import Problem
        try:
            infofair.load_dataset("compas", drop_leaking_columns=True)
        except Problem as problem:
            print(problem)
    """
    said = run(code, installed, tmp_path)
    assert said == "load_dataset needs pandera, pooch, requests: pip install 'infofair[data]'"


def test_an_estimator_and_its_report_with_the_five_packages_alone(
    installed: Path, tmp_path: Path
) -> None:
    code = """
        import numpy as np
        import pandas as pd
        from infofair import InfoFairClassifier

        rng = np.random.default_rng(0)
        df = pd.DataFrame({"sex": rng.integers(2, size=3000), "age": rng.integers(18, 80, 3000)})
        X = np.c_[df, rng.normal(size=(3000, 2))]
        y = df["age"] + 30 * X[:, 2] + 10 * df["sex"] > 50
        model = InfoFairClassifier(alpha=1, fair="equal_opportunity", epochs=8, progress=False)
        model.fit(X, y, sensitive_features=df[["sex", "age"]])
        model.save("model.npz")
        again = InfoFairClassifier.load("model.npz")
        assert (again.predict(X) == model.predict(X)).all()
        model.report("audit")
        print(sorted(model.information_.attributes), model.score(X, y) > 0.6)
    """
    assert run(code, installed, tmp_path).splitlines()[-1] == "['age', 'sex'] True"
    assert (tmp_path / "audit/index.html").exists()
