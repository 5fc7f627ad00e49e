"""The --help texts, the manual and the completions tell of the same commands and options."""

import pathlib
import re
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parents[2]
stria = root / "build/release/tools/stria"
problems = []


def help_of(*words):
    return subprocess.run([stria, *words, "--help"], capture_output=True, text=True, check=True, timeout=10).stdout


def options_in(text):
    return set(re.findall(r"(?<![\w-])(--[a-z][a-z-]*|-o)\b", text)) - {"--help"}


page = (root / "man/stria.1").read_text()
bash = (root / "completions/stria.bash").read_text()
zsh = (root / "completions/_stria").read_text()
pages = page + "".join(other.read_text() for other in sorted(root.glob("man/stria-*.1")))
manual_options = {"--" + name for name in re.findall(r"\bFl -([a-z][a-z-]*)", pages)} | set(
    "-" + name for name in re.findall(r"\bFl ([a-z])\b", pages))

commands = set(re.findall(r"^  ([a-z][a-z-]+) +", help_of(), flags=re.M)) - {"stria"}
if not commands:
    problems.append("stria --help lists no command")
told = set(re.findall(r"^\.It Cm ([a-z-]+)", page.split(".Sh COMMANDS", 1)[-1].split(".Sh EXIT STATUS")[0], flags=re.M))
told -= {"block", "drop", "stop"}
for name in sorted(commands ^ told):
    problems.append(f"{name} is in only one of stria --help and man/stria.1")

seen = {"--version"}
for command in sorted(commands):
    options = options_in(help_of(command).split("options:", 1)[-1])
    seen |= options
    for option in sorted(options - manual_options):
        problems.append(f"no page in man tells of {option}, an option of stria {command}")
    for name, text in (("stria.bash", bash), ("_stria", zsh)):
        line = re.search(rf"^\s*{command}\)(.*?);;", text, flags=re.M | re.S)
        if not line:
            problems.append(f"completions/{name} does not know stria {command}")
            continue
        for option in sorted(options - options_in(line.group(1))):
            problems.append(f"completions/{name} does not offer {option} of stria {command}")
for option in sorted(manual_options - seen - {"--help"}):
    problems.append(f"man tells of {option}, which no command has")

for problem in problems:
    print(problem)
sys.exit(1 if problems else 0)
