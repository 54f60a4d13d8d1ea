// Reads registry packages from pnpm's lock file: their versions, integrity and dependencies. Reads line by line,
// because a YAML document of the whole file takes 20 MB that the runner then keeps. pnpm writes the file in one
// form; another form is an error, not a guess.

export type Lock = {
  /** Versions by package name, as the workspace's own packages request them. */
  direct: Map<string, Set<string>>;
  /** Integrity by `name@version`. */
  integrity: Map<string, string>;
  /** By `name@version(peers)`: its dependencies, in the same form. */
  needs: Map<string, string[]>;
};

/** Throws when the text is not a pnpm lock file of format 9. */
export function parseLock(text: string): Lock {
  if (!/^lockfileVersion: '9\./m.test(text))
    throw new Error("pnpm-lock.yaml is not of format 9; install with the pnpm that package.json names");
  const lock: Lock = { direct: new Map(), integrity: new Map(), needs: new Map() };
  let section = "";
  let entry = "";
  let kind = "";
  let name = "";
  for (const line of text.split("\n")) {
    const match = /^( *)(?:'((?:[^']|'')*)'|([^\s:][^:]*)):(?: (.*))?$/.exec(line);
    if (!match) continue;
    const depth = match[1]!.length / 2;
    const key = (match[2]?.replaceAll("''", "'") ?? match[3])!;
    const value = unquoted(match[4] ?? "");
    if (depth === 0) section = key;
    else if (depth === 1) entry = key;
    else if (depth === 2) kind = key;
    else if (depth === 3) name = key;

    if (section === "packages" && depth === 2 && key === "resolution") {
      lock.integrity.set(entry, /integrity: ([^,}]+)/.exec(match[4] ?? "")?.[1] ?? match[4] ?? "");
    } else if (section === "snapshots" && depth === 1) {
      lock.needs.set(entry, []);
    } else if (section === "snapshots" && depth === 3 && /^(optionalD|d)ependencies$/.test(kind)) {
      lock.needs.get(entry)?.push(`${key}@${value}`);
    } else if (section === "importers" && depth === 4 && key === "version" && /[dD]ependencies$/.test(kind)) {
      if (value.startsWith("link:")) continue;
      lock.direct.set(name, (lock.direct.get(name) ?? new Set()).add(`${name}@${value}`));
    }
  }
  return lock;
}

/**
 * Returns one line for each package that `names` reach, with its integrity, in code-unit order. Throws on an
 * unknown name.
 */
export function packageClosure(lock: Lock, names: Iterable<string>): string[] {
  const closure = new Set<string>();
  const visit = (id: string) => {
    if (closure.has(id)) return;
    closure.add(id);
    for (const needed of lock.needs.get(id) ?? []) visit(needed);
  };
  for (const name of names) {
    const ids = lock.direct.get(name);
    if (!ids) throw new Error(`${name} is imported and is in no package.json of the workspace`);
    for (const id of ids) visit(id);
  }
  return [...closure].sort().map((id) => `${id} ${lock.integrity.get(id.replace(/\(.*$/, "")) ?? ""}`);
}

function unquoted(value: string): string {
  return /^'.*'$/.test(value) ? value.slice(1, -1).replaceAll("''", "'") : value;
}
