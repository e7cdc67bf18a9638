"""Write what is pinned as a software bill of materials: CycloneDX 1.6, JSON.

    python .ci/sbom.py dist/sbom.cdx.json        (make sbom)

A component for every package in requirements/ but the audit's own, with its version, its address
(purl) and the sha256 of every file of it. It needs no network and nothing installed; the same pins
give the same bytes.
"""

import json
import re
import sys
import tomllib
import uuid
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
LINE = re.compile(r"(?P<name>[\w.-]+)==(?P<version>[^;\s\\]+)(?:; (?P<marker>[^\\]+?))? \\$")
# What each file is for, in CycloneDX's words: needed to run, or not.
SCOPES = {"dev": "optional", "cluster": "optional", "cuda": "optional"}


def components() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    of_ours = {*(ROOT / "requirements").glob("*.txt")} - {ROOT / "requirements" / "audit.txt"}
    for path in sorted(of_ours):
        for line in path.read_text(encoding="utf-8").splitlines():
            if pin := LINE.fullmatch(line):
                # PEP 503, which a purl asks for
                name = re.sub(r"[-_.]+", "-", pin["name"]).lower()
                purl = f"pkg:pypi/{name}@{pin['version'].replace('+', '%2B')}"
                own = {"type": "library", "bom-ref": purl, "name": pin["name"]}
                own |= {"version": pin["version"], "purl": purl}
                own |= {"scope": SCOPES.get(path.stem, "required")}
                files = {
                    "type": "distribution", "url": f"https://pypi.org/project/{name}/",
                    "hashes": [],
                }  # fmt: skip
                found.append(own | {"externalReferences": [files]})
            elif "--hash=sha256:" in line:
                digest = line.partition("--hash=sha256:")[2].rstrip(" \\")
                hashes = found[-1]["externalReferences"][0]["hashes"]
                hashes.append({"alg": "SHA-256", "content": digest})
    return sorted(found, key=lambda own: own["bom-ref"])


def bom() -> dict[str, Any]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    name, version = project["name"], project["version"]
    own = {"type": "application", "bom-ref": name, "name": name, "version": version}
    own |= {"licenses": [{"license": {"id": project["license"]}}]}
    pinned = components()
    content = json.dumps([own, pinned], sort_keys=True)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, content)}",
        "version": 1,
        "metadata": {"component": own},
        "components": pinned,
        "dependencies": [{"ref": name, "dependsOn": [of["bom-ref"] for of in pinned]}],
    }


def main(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(bom(), indent=1) + "\n", encoding="utf-8")
    print(path)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
