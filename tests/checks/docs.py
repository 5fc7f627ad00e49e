"""Documents do not lie: relative links lead somewhere, and what the README has people type exists."""

import os
import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parents[2]
problems = []


def documents():
    for folder, names, files in os.walk(root):
        names[:] = [name for name in names if name not in ("build", ".git")]
        for name in files:
            if name.endswith(".md"):
                yield pathlib.Path(folder) / name


def heading_anchor(heading):
    text = re.sub(r"[^\w\- ]", "", heading.strip().lower().replace("`", ""))
    return text.replace(" ", "-")


def anchors(path):
    return {heading_anchor(line.lstrip("#")) for line in path.read_text().splitlines() if line.startswith("#")}


def check_links(path):
    text = re.sub(r"```.*?```", "", path.read_text(), flags=re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = (path.parent / name).resolve() if name else path
        if not file.exists():
            problems.append(f"{path.relative_to(root)}: the link to {target} leads nowhere")
        elif anchor and file.suffix == ".md" and anchor not in anchors(file):
            problems.append(f"{path.relative_to(root)}: {name or 'it'} has no heading #{anchor}")


def check_paths(path):
    """Names of files in `code`, written from the root, are files."""
    for name in re.findall(r"`((?:core|support|backends|survey|config|engine|tools|tests|bench|docs|packaging|cmake|man|completions|"
                           r"include)/[\w./-]*)`", path.read_text()):
        if not (root / name).exists():
            problems.append(f"{path.relative_to(root)}: there is no {name}")


def check_tests():
    """Tests that docs/field-cases.md names are there."""
    known = set()
    for file in (root / "tests").rglob("*.c"):
        known |= {f"{suite}/{name}" for suite, name in re.findall(r"^Test\((\w+),\s*(\w+)", file.read_text(), flags=re.M)}
    for file in (root / "tests").rglob("*.sh"):
        known |= {f'{file.stem}: "{name}"' for name in re.findall(r'^\s*it "([^"]*)"', file.read_text(), flags=re.M)}
    named = re.findall(r"`(\w+/\w+|\w+: \"[^`]*\")`", (root / "docs/field-cases.md").read_text())
    for name in sorted(set(named) - known - {"tests/e2e", "tests/vm", "suite/test", 'script: "what it says"'}):
        problems.append(f"docs/field-cases.md: there is no test {name}")


def check_commands(path):
    """Scripts run by documents exist, and presets named there are presets."""
    presets = set(re.findall(r'"name": "([\w-]+)"', (root / "CMakePresets.json").read_text()))
    for block in re.findall(r"```sh\n(.*?)```", path.read_text(), flags=re.S):
        for line in block.splitlines():
            script = re.match(r"\s*sh (\S+)", line)
            if script and not (root / script.group(1)).is_file():
                problems.append(f"{path.relative_to(root)}: there is no {script.group(1)}")
            preset = re.search(r"--preset[ =](\S+)", line)
            if preset and preset.group(1) not in presets:
                problems.append(f"{path.relative_to(root)}: there is no preset {preset.group(1)}")


check_tests()
count = 0
for document in documents():
    count += 1
    check_links(document)
    check_commands(document)
    if document.name != "CHANGELOG.md":
        check_paths(document)
for problem in problems:
    print(problem)
if count == 0:
    print("there are no documents")
sys.exit(1 if problems or count == 0 else 0)
