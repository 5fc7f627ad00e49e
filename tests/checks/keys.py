"""array.ini(5) describes every key that config/keys.c reads, with its initial value, and no other."""

import pathlib
import re
import sys

root = pathlib.Path(__file__).resolve().parents[2]
table = (root / "config/keys.c").read_text()
page = (root / "man/array.ini.5").read_text()
problems = []

text = r'(?:"[^"]*"\s*)+|\w+'
row = re.compile(rf'{{STRIA_KEY_(\w+),\s+"(\w+)",\s+({text}),\s+({text}),\s+(true|false),')
keys = {"array": {}, "drive.name": {}}
for section, name, _, initial, _ in row.findall(table):
    keys["array" if section == "ARRAY" else "drive.name"][name] = None if initial == "NULL" else initial.strip('" \n')

for section, expected in keys.items():
    if not expected:
        problems.append(f"config/keys.c lists no key of [{section}]")
    body = page.split(f".Ss [{section}]\n", 1)[-1]
    body = re.split(r"^\.S[sh] ", body, flags=re.M)[0]
    told = dict(re.findall(r"^\.It Cm (\w+)\n(.*?)(?=^\.It|^\.El)", body, flags=re.M | re.S))
    for name, initial in expected.items():
        if name not in told:
            problems.append(f"man/array.ini.5 says nothing of {name} in [{section}]")
        elif initial is not None and not re.search(rf"^\.(Li|Cm) {re.escape(initial)}( ,)?$", told[name], flags=re.M):
            problems.append(f"man/array.ini.5 does not say that {name} is {initial} by default")
    for name in told.keys() - expected.keys():
        problems.append(f"man/array.ini.5 tells of {name} in [{section}], which config/keys.c does not read")

for problem in problems:
    print(problem)
sys.exit(1 if problems else 0)
