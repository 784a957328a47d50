# SPDX-License-Identifier: Apache-2.0
"""The table of docs/contributor/MACHINE-TEST.md, which a whole run writes itself.

`table.py --age` says which columns are of other sources than the present ones, and ends with 1 if there
are any.
"""

import os
import re
import subprocess
import sys
import time

PAGE = f"{os.path.dirname(os.path.abspath(__file__))}/../../docs/contributor/MACHINE-TEST.md"
NAMES = {"bookworm": "Debian 12", "trixie": "Debian 13"}
BEGIN, END = "<!-- written by make machine-test -->\n", "<!-- end -->\n"
# What no package contains, or only as text.
OUTSIDE = ["docs", "Tests", "checks", "Benchmarks", "Examples/[!d]*", "po", "*.md", ".ci"]
LAYERS = [[b"Sources", layer] for layer in (b"Device", b"Shared", b"System")]


def place(path):
    """What of a file's path counts: a file may move within a target of these layers, and nothing changes."""
    parts = path.split(b"/")
    isMoving = parts[:2] in LAYERS
    return b"/".join([*parts[:3], parts[-1]]) if isMoving else path


def sources():
    """A digest of what the packages are built from, as it lies in the tree."""
    root = os.path.dirname(PAGE) + "/../.."
    paths = [".", *(f":!{name}" for name in OUTSIDE)]
    tracked = subprocess.run(["git", "ls-files", "-z", "--", *paths], cwd=root, check=True,
                             capture_output=True).stdout.split(b"\0")
    existing = [path for path in tracked if path and os.path.isfile(os.path.join(root.encode(), path))]
    hashed = subprocess.run(["git", "hash-object", "--stdin-paths"], cwd=root, check=True,
                            input=b"\n".join(existing), capture_output=True).stdout.split()
    lines = b"".join(sorted(digest + b" " + place(path) + b"\n" for digest, path in zip(hashed, existing)))
    return subprocess.run(["git", "hash-object", "--stdin"], input=lines, check=True,
                          capture_output=True).stdout.decode()[:12]


def commit():
    """The last commit, and whether what lies in the tree is another than its."""
    def git(*words):
        return subprocess.run(["git", *words], cwd=os.path.dirname(PAGE), check=True,
                              capture_output=True, encoding="utf-8").stdout.strip()
    changed = git("status", "--porcelain", "--untracked-files=no")
    return git("rev-parse", "--short=10", "HEAD") + (" with changes" if changed else "")


def read():
    """The page before and after the table, the cells by release and case, and what each run was of."""
    with open(PAGE, encoding="utf-8") as page:
        before, _, rest = page.read().partition(BEGIN)
    old, _, after = rest.partition(END)
    cells = {release: {} for release in NAMES}
    for row in re.findall(r"^\| (.+) \| (.) \| (.) \|$", old, re.M):
        for release, cell in zip(NAMES, row[1:]):
            cells[release][row[0]] = cell
    runs = {release: of for release, name in NAMES.items()
            for of in re.findall(rf"{name}: ([^.]+ `\w+`)\.", old)}
    return before, cells, runs, after


def write(cases, results, tested):
    """Puts the results of a whole run, by release and case, into the page; `tested` are its sources."""
    before, cells, runs, after = read()
    for release, result in results.items():
        # What was not reached has not passed.
        cells[release] = {case: result.get(case, "✗") for case in cases}
        day = time.strftime("%d %B %Y", time.gmtime()).lstrip("0")
        runs[release] = f"{day}, at the commit {commit()}, of the sources `{tested}`"
    lines = [" ".join(f"{name}: {runs[release]}." for release, name in NAMES.items()
                      if release in runs), "", "| case | " + " | ".join(NAMES.values()) + " |",
             "|---" * (len(NAMES) + 1) + "|"]
    lines += [f"| {case} | " + " | ".join(cells[release].get(case, "?") for release in NAMES) + " |"
              for case in cases]
    with open(PAGE, "w", encoding="utf-8") as page:
        page.write(before + BEGIN + "\n" + "\n".join(lines) + "\n\n" + END + after)


def age():
    """Says which columns are of other sources; true if all are of these."""
    now, (_, cells, runs, _) = sources(), read()
    isNew = True
    for release, name in NAMES.items():
        if now not in runs.get(release, ""):
            isNew = False
            print(f"machine: the table's {name} is of {runs.get(release, 'no run')}, and these are "
                  f"{now}: run 'make machine-test'")
        failed = [case for case, cell in cells[release].items() if cell not in "✓–"]
        if failed:
            isNew = False
            print(f"machine: {name}: {len(failed)} of {len(cells[release])} cases have not passed, "
                  f"the first: {failed[0]}")
    return isNew


if __name__ == "__main__" and sys.argv[1:] == ["--age"]:
    sys.exit(0 if age() else 1)
