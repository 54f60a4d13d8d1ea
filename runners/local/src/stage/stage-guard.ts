// Preloaded into a stage's script that runs under Node's permission model. Records refusals, so that the runner
// can name the line of YAML that allows the access. Small, because every script waits for this module.
import { subscribe } from "node:diagnostics_channel";
import fs from "node:fs";
import module, { syncBuiltinESMExports } from "node:module";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const file = process.env.MLRB_REFUSALS;
const noted = new Set<string>();

/** More than a person reads: a script that repeats an access must not fill the disk. */
const notedMax = 200;

/** Paths become absolute: a script may change its working directory. */
function note(kind: string, asked: string): void {
  const resource = ["read", "list", "write"].includes(kind) ? resolve(asked) : asked;
  const line = JSON.stringify({ kind, resource, ...(resource !== asked && { asked }) });
  if (file === undefined || noted.size >= notedMax || noted.has(line)) return;
  noted.add(line);
  try {
    fs.appendFileSync(file, `${line}\n`);
  } catch {
    // the script's own error names the refusal
  }
}

/** Running globs: they silently skip folders that they may not list. */
let globs = 0;

type Refused = { permission: string; resource: string };

subscribe("node:permission-model:worker", () => note("program", "a worker thread"));
subscribe("node:permission-model:fs", (message) => {
  const { permission, resource } = message as Refused;
  const isList = permission === "FileSystemRead" && globs > 0 && look(resolve(resource)) === 1;
  const kind = { FileSystemRead: isList ? "list" : "read", FileSystemWrite: "write" }[permission] ?? "link";
  note(kind, resource);
});
for (const [channel, kind] of [
  ["child", "program"],
  ["net", "network"],
  ["addon", "native"],
  ["wasi", "native"],
  ["ffi", "native"],
] as const)
  subscribe(`node:permission-model:${channel}`, (message) => note(kind, (message as Refused).resource));

// The model refuses fsync altogether. A stage needs no fsync: its outputs count only once the store has ingested
// them.
const none = (_: number, done?: (error: null) => void) => {
  if (done) process.nextTick(done, null);
};
Object.assign(fs, { fsync: none, fdatasync: none, fsyncSync: none, fdatasyncSync: none });
const { open } = fs.promises;
fs.promises.open = async (...args) => {
  const handle = await open(...args);
  handle.sync = handle.datasync = async () => {};
  return handle;
};
fs.promises.writeFile = withoutFlush(fs.promises.writeFile);
fs.promises.appendFile = withoutFlush(fs.promises.appendFile);

function withoutFlush(write: typeof fs.promises.writeFile): typeof fs.promises.writeFile {
  return (file, data, options) =>
    write(file, data, typeof options === "object" && options ? { ...options, flush: false } : options);
}

// Of the two realpaths, the JavaScript version asks for every link above the path. No stage owns those links.
const { realpath, realpathSync } = fs;
fs.realpath = Object.assign(realpath.native.bind(fs), {
  native: realpath.native,
  __promisify__: fs.promises.realpath,
});
fs.realpathSync = Object.assign(realpathSync.native.bind(fs), { native: realpathSync.native });

// Node refuses before it looks. Libraries look for optional files, up the tree and in HOME, and continue where a
// file is missing: so a missing file gives ENOENT, and a folder is reported as existing. Listing a folder is noted
// separately, because Node's own look-ups of folders are not the script's.
const asks = ["access", "exists", "lstat", "open", "readFile", "readlink", "realpath", "stat", "statfs"];
const lists = ["opendir", "readdir"];
const copies = ["copyFile", "cp"];
type Call = (...args: unknown[]) => unknown;
const calls = fs as unknown as Record<string, Call>;
const promised = fs.promises as unknown as Record<string, Call>;

for (const name of [...asks, ...lists, ...copies]) {
  replace(calls, `${name}Sync`, answering(name));
  replace(calls, name, (call) => (...args) => {
    const done = args.at(-1);
    if (typeof done !== "function" || name === "exists") return call(...args);
    const report = (error: unknown, ...rest: unknown[]) => {
      const given = error ? answer(name, error, args) : undefined;
      if (given && "value" in given) done(null, given.value);
      else done(given ? given.error : error, ...rest);
    };
    return call(...args.slice(0, -1), report);
  });
  replace(
    promised,
    name,
    (call) =>
      async (...args) =>
        await (call(...args) as Promise<unknown>).catch((error) => settled(answer(name, error, args))),
  );
}

replace(calls, "globSync", (call) => (...args) => {
  globs++;
  try {
    return call(...args);
  } finally {
    globs--;
  }
});
replace(calls, "glob", (call) => (...args) => {
  globs++;
  const done = args.at(-1) as Call;
  return call(...args.slice(0, -1), (...given: unknown[]) => {
    globs--;
    done(...given);
  });
});
replace(
  promised,
  "glob",
  (call) =>
    async function* (...args) {
      globs++;
      try {
        yield* call(...args) as AsyncIterable<unknown>;
      } finally {
        globs--;
      }
    },
);

fs.realpath.native = fs.realpath;
Object.assign(fs.realpathSync, { native: fs.realpathSync });
replace(process as unknown as Record<string, Call>, "loadEnvFile", answering("open"));

/** A call that gets an answer in place of a refusal. */
function answering(name: string): (call: Call) => Call {
  return (call) =>
    (...args) => {
      try {
        return call(...args);
      } catch (error) {
        return settled(answer(name, error, args));
      }
    };
}

function replace(of: Record<string, Call>, name: string, by: (call: Call) => Call): void {
  const call = of[name];
  if (call === undefined) return;
  of[name] = Object.defineProperties(by(call.bind(of)), Object.getOwnPropertyDescriptors(call));
}

type Answer = { value: unknown } | { error: unknown };

function settled(given: Answer): unknown {
  if ("error" in given) throw given.error;
  return given.value;
}

/** The answer to a script in place of a refusal; the refusal itself where there is no better answer. */
function answer(name: string, error: unknown, args: unknown[]): Answer {
  const refused = error as NodeJS.ErrnoException & { permission?: string; resource?: string };
  const { code, permission, resource } = refused;
  if (code !== "ERR_ACCESS_DENIED" || permission !== "FileSystemRead" || !resource) return { error };
  const path = resolve(resource);
  const found = look(path);
  if (found < 0) {
    if (name === "exists") return { value: false };
    const asked = args[1] as { throwIfNoEntry?: boolean } | undefined;
    if (asked?.throwIfNoEntry === false) return { value: undefined };
    return { error: absent(name, resource) };
  }
  // a file was recorded as read: its existence affects the result too
  if (found === 0) return name === "exists" ? { value: false } : { error };
  if (name === "exists") return { value: true };
  if (name === "access" && !(Number(args[1] ?? 0) & fs.constants.W_OK)) return { value: undefined };
  const isAbove = `${process.cwd()}/`.startsWith(path === "/" ? "/" : `${path}/`);
  if (name === "realpath" && isAbove) return { value: path }; // the working directory is reported by its real path
  if (name === "cp" && mayCopy(args)) {
    copyTree(String(args[0]), String(args[1]), (args[2] ?? {}) as fs.CopySyncOptions);
    return { value: undefined };
  }
  if (lists.includes(name) || name === "cp") note("list", resource);
  return { error };
}

/** Node's cp asks about each folder above the two paths. No stage owns those folders. */
function mayCopy([from, to, options]: unknown[]): boolean {
  const { recursive, filter, errorOnExist } = (options ?? {}) as fs.CopySyncOptions;
  const isPlain = typeof from === "string" && typeof to === "string" && recursive && !filter && !errorOnExist;
  return (
    isPlain === true && process.permission.has("fs.read", from) && process.permission.has("fs.write", to)
  );
}

/** Links become copies of their targets: the model lets no script make a link. */
function copyTree(from: string, to: string, options: fs.CopySyncOptions): void {
  const stats = fs.statSync(from);
  if (stats.isDirectory()) {
    fs.mkdirSync(to, { recursive: true });
    for (const name of fs.readdirSync(from)) copyTree(join(from, name), join(to, name), options);
  } else if (options.force !== false || !fs.existsSync(to)) fs.copyFileSync(from, to, options.mode);
  if (options.preserveTimestamps) fs.utimesSync(to, stats.atime, stats.mtime);
}

/**
 * 0 for a file, 1 for a folder, negative for a missing path. Uses the call of Node's module loader, which the
 * model does not restrict.
 */
function look(path: string): number {
  return (module as unknown as { _stat: (path: string) => number })._stat(path);
}

// The model lets a script open any database. An import here would fix the exports that the script imports.
const sqlite = process.getBuiltinModule("node:sqlite");
const { DatabaseSync } = sqlite;
(sqlite as { DatabaseSync: typeof DatabaseSync }).DatabaseSync = class extends DatabaseSync {
  constructor(...given: ConstructorParameters<typeof DatabaseSync>) {
    const name = String(given[0] instanceof Uint8Array ? Buffer.from(given[0]) : given[0]);
    const address = name.startsWith("file:") ? new URL(name, pathToFileURL("./")) : undefined;
    const path = resolve(address ? fileURLToPath(address) : name);
    const kind = look(path) < 0 ? "write" : "read";
    const inMemory = ["", ":memory:"].includes(name) || address?.searchParams.get("mode") === "memory";
    if (!inMemory && !process.permission.has(`fs.${kind}`, path)) {
      note(kind, path);
      throw Object.assign(new Error(`this stage may not ${kind} ${path}`), { code: "ERR_ACCESS_DENIED" });
    }
    super(...given);
  }
};

function absent(name: string, resource: string): Error {
  const call = { readFile: "open", readdir: "scandir", copyFile: "copyfile" }[name] ?? name;
  const error = new Error(`ENOENT: no such file or directory, ${call} '${resource}'`);
  return Object.assign(error, { errno: -2, code: "ENOENT", syscall: call, path: resource });
}

syncBuiltinESMExports();

// Otherwise Node would pass its flags to every Node that the script starts. Those programs run without a guard.
process.execArgv = process.execArgv.filter(
  (flag) => !/^--(permission|allow-|require=|disable-warning=SecurityWarning)/.test(flag),
);
