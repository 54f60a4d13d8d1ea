// Finds the packages that a repository's node_modules link to. Most are inside the repository. A store that several
// checkouts share, or a linked workspace, is elsewhere, and a stage in a container must see it too.
import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { isAbsolute, join, sep } from "node:path";

const known = new Map<string, string[]>();

/** Absolute folders outside `root`, none inside another. Cached for each root. */
export function packageFolders(root: string): string[] {
  const before = known.get(root);
  if (before) return before;
  const found = new Set<string>();
  for (const modules of modulesOf(root)) {
    const store = virtualStore(modules);
    if (store !== undefined && isOutside(store, root)) found.add(store);
    for (const link of linksIn(modules)) {
      const target = realOf(link);
      if (target !== undefined && isOutside(target, root)) found.add(whole(target));
    }
  }
  const folders = outermost([...found].sort());
  known.set(root, folders);
  return folders;
}

/** The node_modules of the repository and of its packages. */
function modulesOf(root: string): string[] {
  const runners = join(root, "runners");
  const packages = existsSync(runners) ? readdirSync(runners).map((name) => join(runners, name)) : [];
  return [root, ...packages].map((folder) => join(folder, "node_modules")).filter((path) => existsSync(path));
}

/** Where pnpm keeps the packages' own dependencies. */
function virtualStore(modules: string): string | undefined {
  try {
    const said = /"?virtualStoreDir"?:\s*"?([^"\n,]+)"?/.exec(
      readFileSync(join(modules, ".modules.yaml"), "utf8"),
    );
    const path = said?.[1]?.trim();
    return path === undefined ? undefined : realOf(isAbsolute(path) ? path : join(modules, path));
  } catch {
    return undefined; // another package manager's, or a copy
  }
}

function linksIn(modules: string): string[] {
  return readdirSync(modules).flatMap((name) => {
    if (name.startsWith(".")) return [];
    const path = join(modules, name);
    return name.startsWith("@") ? readdirSync(path).map((one) => join(path, one)) : [path];
  });
}

/** The folder around the package: its dependencies are links next to it. */
function whole(target: string): string {
  const end = target.indexOf(`${sep}node_modules${sep}`);
  return end < 0 ? target : target.slice(0, end + `${sep}node_modules`.length);
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined; // a link to nothing
  }
}

function isOutside(path: string, root: string): boolean {
  return path !== root && !path.startsWith(`${root}${sep}`);
}

function outermost(sorted: string[]): string[] {
  return sorted.filter(
    (path) => !sorted.some((other) => other !== path && path.startsWith(`${other}${sep}`)),
  );
}
