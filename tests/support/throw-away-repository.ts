// A copy of this checkout that a test may edit: the files that git tracks or would add, with new node_modules
// folders. @mlrb/* resolve into the copy, so that an edit of its kit has effect, and registry packages into the
// checkout. The program under test is the copy's own.
import { execFileSync, spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { removeFolder } from "@mlrb/kit/files/remove-folder";

const checkout = realpathSync(join(dirname(fileURLToPath(import.meta.url)), "../.."));

export type Repository = {
  /** Absolute, without links. */
  path: string;
  read(file: string): string;
  /** Writes a file and its folders. Paths are relative to the repository. */
  write(file: string, text: string): void;
  /** Replaces text that must occur exactly once: an edit without effect would prove nothing. */
  edit(file: string, from: string, to: string): void;
  remove(): void;
};

/** `name` is the folder's name, for tests of unusual names. */
export function throwAwayRepository(name = "repository"): Repository {
  const above = realpathSync(mkdtempSync(join(tmpdir(), "mlrb-e2e-")));
  const path = join(above, name);
  copyFiles(path);
  linkModules(path);
  linkCompileCache(path);
  return {
    path,
    read: (file) => readFileSync(join(path, file), "utf8"),
    write(file, text) {
      mkdirSync(dirname(join(path, file)), { recursive: true });
      writeFileSync(join(path, file), text);
    },
    edit(file, from, to) {
      const text = readFileSync(join(path, file), "utf8");
      const count = text.split(from).length - 1;
      if (count !== 1) throw new Error(`${file} holds ${JSON.stringify(from)} ${count} times, not once`);
      writeFileSync(
        join(path, file),
        text.replace(from, () => to),
      );
    },
    remove: () => removeFolder(above),
  };
}

function copyFiles(path: string): void {
  const listed = execFileSync("git", ["ls-files", "-z", "-co", "--exclude-standard"], {
    cwd: checkout,
    encoding: "utf8",
    maxBuffer: 1 << 26,
  });
  for (const file of listed.split("\0")) {
    const from = join(checkout, file);
    if (file === "" || !existsSync(from)) continue; // listed, and deleted since
    mkdirSync(dirname(join(path, file)), { recursive: true });
    copyFileSync(from, join(path, file));
  }
}

/**
 * Hard links to the compiled program of the checkout, whose entries are by relative paths, and are replaced, never
 * written into. They only save time: an entry that is just being replaced may be left out.
 */
function linkCompileCache(path: string): void {
  if (statSync(checkout).dev !== statSync(path).dev) return; // no hard link leads there
  const cache = "node_modules/.cache/mlrb";
  mkdirSync(dirname(join(path, cache)), { recursive: true });
  spawnSync("cp", ["-rl", join(checkout, cache), join(path, cache)], { stdio: "ignore" });
}

function linkModules(path: string): void {
  const packages = readdirSync(join(checkout, "runners")).map((name) => join("runners", name));
  for (const folder of [".", ...packages]) {
    const modules = join(checkout, folder, "node_modules");
    if (!existsSync(modules)) continue;
    for (const name of readdirSync(modules)) {
      const names = name.startsWith("@")
        ? readdirSync(join(modules, name)).map((one) => join(name, one))
        : [name];
      for (const one of names) {
        if (!lstatSync(join(modules, one)).isSymbolicLink()) continue;
        const link = join(path, folder, "node_modules", one);
        mkdirSync(dirname(link), { recursive: true });
        symlinkSync(counterpart(realpathSync(join(modules, one)), path), link);
      }
    }
  }
}

/** A workspace package's folder in the copy; a registry package stays where it is. */
function counterpart(target: string, path: string): string {
  const inside = relative(checkout, target);
  if (inside.startsWith("..") || inside.split(sep).includes("node_modules")) return target;
  return join(path, inside);
}
