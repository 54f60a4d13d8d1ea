// Finds what installed packages require outside a lock: the dependencies of torch's CUDA builds, which no hash
// covers. Unlike pip's own resolver it needs nothing else installed, so that pip can install the lock meanwhile.

/** Arguments of the environment's Python: prints a JSON list of requirements that are not installed yet. */
export function requirementsOutside(of: string[], locked: string[]): string[] {
  return ["-c", walk, JSON.stringify([of, locked])];
}

const walk = `
import json, sys
from importlib.metadata import PackageNotFoundError, distribution
from pip._vendor.packaging.requirements import Requirement
from pip._vendor.packaging.utils import canonicalize_name

of, locked = json.loads(sys.argv[1])
locked = {canonicalize_name(name) for name in locked}
missing, seen, left = {}, set(), [(name, ("",)) for name in of]
while left:
    name, extras = left.pop()
    for text in distribution(name).requires or []:
        needed = Requirement(text)
        asked = not needed.marker or any(needed.marker.evaluate({"extra": extra}) for extra in extras)
        key = (canonicalize_name(needed.name), *sorted(needed.extras))
        if not asked or key[0] in locked or key in seen:
            continue
        try:
            distribution(needed.name)
        except PackageNotFoundError:
            needed.marker = None
            missing[str(needed)] = True
        else:
            seen.add(key)
            left.append((needed.name, ("", *needed.extras)))
print(json.dumps(list(missing)))
`;
