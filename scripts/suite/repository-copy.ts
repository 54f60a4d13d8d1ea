// A copy of the working tree in which files may be changed: Stryker writes all mutants of a file into it, and a
// run that is killed would leave them there. Packages are shared; the workspace's own are the copy's.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** `paths` from the repository's root. Gives the copy's folder, which the caller removes. */
export function copyRepository(repository: string, paths: Iterable<string>): string {
  const copy = realpathSync(mkdtempSync(join(tmpdir(), "mlrb-mutants-")));
  const packages = ["."];
  for (const path of paths) {
    cpSync(join(repository, path), join(copy, path), { verbatimSymlinks: true });
    if (path.endsWith("/package.json")) packages.push(dirname(path));
  }
  for (const folder of packages) {
    const from = join(repository, folder, "node_modules");
    if (!existsSync(from)) continue;
    const to = join(copy, folder, "node_modules");
    mkdirSync(to);
    for (const name of readdirSync(from)) {
      if (name === ".pnpm") symlinkSync(join(from, name), join(to, name));
      else if (name !== ".cache")
        cpSync(join(from, name), join(to, name), { recursive: true, verbatimSymlinks: true });
    }
  }
  return copy;
}
