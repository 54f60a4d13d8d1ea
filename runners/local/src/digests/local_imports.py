"""Lists the files that a Python script imports, directly or indirectly, from the folders it runs with.
Packages in the environment's lock file are not listed.

Reads {"script": path, "roots": [path…]} as JSON on standard input, roots in Python's search order.
Writes {"files": […], "absent": […]}. `files`: the files that are read, the script first. `absent`:
missing files that would be read instead if they existed. Names built at run time are not found: a
stage declares such files.
"""

import ast
import json
import sys
from pathlib import Path


class Closure:
    def __init__(self, script: Path, roots: list[Path]) -> None:
        self.roots = [script.parent, *roots]
        self.files: dict[Path, None] = {}
        self.absent: dict[Path, None] = {}
        self.add(script)

    def add(self, script: Path) -> None:
        waiting = [script]
        while waiting:
            path = waiting.pop()
            if path in self.files:
                continue
            self.files[path] = None
            try:
                tree = ast.parse(path.read_bytes())
            except (SyntaxError, ValueError, RecursionError, MemoryError, OSError):
                continue
            for names, level in imported(tree):
                waiting.extend(self.found(path, names, level))

    def found(self, importer: Path, names: list[str], level: int) -> list[Path]:
        """Returns the files of `import a.b` or `from a.b import c`; c may be a module or a name in one."""
        if level > 0:
            package = importer.parent
            for _ in range(level - 1):
                package = package.parent
            own = [self.there(package / "__init__.py")]
            return [path for path in own if path] + self.within(package, names)
        for root in self.roots:
            files = self.within(root, names)
            if files:
                return files
        return []

    def within(self, folder: Path, names: list[str]) -> list[Path]:
        files: list[Path] = []
        for name in names:
            package, module = folder / name / "__init__.py", folder / f"{name}.py"
            found = self.there(package) or self.there(module)
            if found:
                files.append(found)
            elif not (folder / name).is_dir():
                break
            folder = folder / name
        return files

    def there(self, path: Path) -> Path | None:
        if path.is_file():
            return path
        self.absent[path] = None
        return None


def imported(tree: ast.Module) -> list[tuple[list[str], int]]:
    found: list[tuple[list[str], int]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.extend((alias.name.split("."), 0) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module.split(".") if node.module else []
            found.append((base, node.level))
            found.extend(([*base, alias.name], node.level) for alias in node.names if alias.name != "*")
    return [(names, level) for names, level in found if names or level]


def main() -> None:
    asked = json.load(sys.stdin)
    closure = Closure(Path(asked["script"]), [Path(root) for root in asked["roots"]])
    json.dump(
        {"files": [str(path) for path in closure.files], "absent": sorted(map(str, closure.absent))},
        sys.stdout,
    )


if __name__ == "__main__":
    main()
