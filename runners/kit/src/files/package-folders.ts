// Finds the packages that a repository's node_modules link to. Most are inside the repository. A store that
// several checkouts share, or a linked workspace, is elsewhere, and a stage in a container must see it too.
import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { isAbsolute, join, sep } from "node:path";
import { quiet } from "../processes/process-table.ts";

export type PackageFolders = {
  /** What a package manager fills: the lock file says with what. */
  stores: string[];
  /** Packages of other checkouts. */
  linked: string[];
};

const known = new Map<string, PackageFolders>();

/** Absolute folders outside `root`, none inside another. Cached for each root. */
export function packageFolders(root: string): PackageFolders {
  return known.getOrInsertComputed(root, () => {
    const stores = new Set<string>();
    const linked = new Set<string>();
    for (const modules of modulesOf(root)) {
      const store = virtualStore(modules);
      if (store !== undefined && isOutside(store, root)) stores.add(store);
      for (const link of linksIn(modules)) {
        const target = realOf(link);
        if (target === undefined || !isOutside(target, root)) continue;
        // the folder around the package: its dependencies are links next to it
        const end = target.indexOf(`${sep}node_modules${sep}`);
        if (end < 0) linked.add(target);
        else stores.add(target.slice(0, end + `${sep}node_modules`.length));
      }
    }
    return { stores: outermost([...stores].sort()), linked: [...linked].sort() };
  });
}

/** The node_modules of the repository and of its packages. */
function modulesOf(root: string): string[] {
  const runners = join(root, "runners");
  const packages = existsSync(runners) ? readdirSync(runners).map((name) => join(runners, name)) : [];
  return [root, ...packages].map((folder) => join(folder, "node_modules")).filter((path) => existsSync(path));
}

/** Where pnpm keeps the packages' own dependencies. */
function virtualStore(modules: string): string | undefined {
  // there is none of another package manager, or in a copy
  const text = quiet(() => readFileSync(join(modules, ".modules.yaml"), "utf8")) ?? "";
  const path = /"?virtualStoreDir"?:\s*"?([^"\n,]+)"?/.exec(text)?.[1]?.trim();
  return path === undefined ? undefined : realOf(isAbsolute(path) ? path : join(modules, path));
}

function linksIn(modules: string): string[] {
  return readdirSync(modules).flatMap((name) => {
    if (name.startsWith(".")) return [];
    const path = join(modules, name);
    return name.startsWith("@") ? readdirSync(path).map((one) => join(path, one)) : [path];
  });
}

/** Undefined for a link to nothing. */
function realOf(path: string): string | undefined {
  return quiet(() => realpathSync(path));
}

function isOutside(path: string, root: string): boolean {
  return path !== root && !path.startsWith(`${root}${sep}`);
}

function outermost(sorted: string[]): string[] {
  return sorted.filter(
    (path) => !sorted.some((other) => other !== path && path.startsWith(`${other}${sep}`)),
  );
}
