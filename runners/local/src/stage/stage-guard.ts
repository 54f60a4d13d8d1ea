// Preloaded into a stage's script that runs under Node's permission model: notes what was refused, so that the
// runner can say which line of YAML allows it. Small, because every script waits for it.
import { subscribe } from "node:diagnostics_channel";
import fs from "node:fs";
import module, { syncBuiltinESMExports } from "node:module";
import { join, resolve } from "node:path";

const file = process.env.MLRB_REFUSALS;
const noted = new Set<string>();

/** More than a person reads; a script that tries again and again must not fill the disk. */
const notedMax = 200;

/** Paths absolute: a script may change its working directory. */
function note(kind: string, asked: string): void {
  const resource = ["read", "list", "write"].includes(kind) ? resolve(asked) : asked;
  const line = JSON.stringify({ kind, resource, ...(resource !== asked && { asked }) });
  if (file === undefined || noted.size >= notedMax || noted.has(line)) return;
  noted.add(line);
  try {
    fs.appendFileSync(file, `${line}\n`);
  } catch {
    // the script's own error says what was refused
  }
}

/** Globs under way: they pass over what they may not list, and find less without a word. */
let globs = 0;

type Refused = { permission: string; resource: string };

subscribe("node:permission-model:worker", () => note("program", "a worker thread"));
subscribe("node:permission-model:fs", (message) => {
  const { permission, resource } = message as Refused;
  if (permission === "FileSystemRead" && globs > 0 && look(resolve(resource)) === 1) note("list", resource);
  else
    note(
      permission === "FileSystemRead" ? "read" : permission === "FileSystemWrite" ? "write" : "link",
      resource,
    );
});
for (const [channel, kind] of [
  ["child", "program"],
  ["net", "network"],
  ["addon", "native"],
  ["wasi", "native"],
  ["ffi", "native"],
] as const)
  subscribe(`node:permission-model:${channel}`, (message) => note(kind, (message as Refused).resource));

// The model refuses fsync altogether. A stage needs none: its outputs count once the store has taken them in.
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

// Of the two realpaths, the one in JavaScript asks for every link above the path, which belongs to no stage.
const { realpath, realpathSync } = fs;
fs.realpath = Object.assign(realpath.native.bind(fs), {
  native: realpath.native,
  __promisify__: fs.promises.realpath,
});
fs.realpathSync = Object.assign(realpathSync.native.bind(fs), { native: realpathSync.native });

// Node refuses before it looks. Libraries look for optional files, up the tree and in HOME, and continue where a file is
// missing: so a missing file gives ENOENT, and a folder is reported as existing. Listing a folder is noted separately,
// because Node's own look-ups of folders are not the script's.
const asks = ["access", "exists", "lstat", "open", "readFile", "readlink", "realpath", "stat", "statfs"];
const lists = ["opendir", "readdir"];
const copies = ["copyFile", "cp"];
type Call = (...args: unknown[]) => unknown;
const calls = fs as unknown as Record<string, Call>;
const promised = fs.promises as unknown as Record<string, Call>;

for (const name of [...asks, ...lists, ...copies]) {
  replace(calls, `${name}Sync`, (call) => (...args) => {
    try {
      return call(...args);
    } catch (error) {
      return settled(answer(name, error, args));
    }
  });
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

const { glob, globSync } = fs;
const { glob: globLater } = fs.promises;
calls.globSync = (...args) => {
  globs++;
  try {
    return (globSync as Call)(...args);
  } finally {
    globs--;
  }
};
calls.glob = (...args) => {
  globs++;
  const done = args.at(-1) as Call;
  const report = (...given: unknown[]) => {
    globs--;
    done(...given);
  };
  return (glob as Call)(...args.slice(0, -1), report);
};
promised.glob = async function* (...args) {
  globs++;
  try {
    yield* (globLater as Call)(...args) as AsyncIterable<unknown>;
  } finally {
    globs--;
  }
};

fs.realpath.native = fs.realpath;
Object.assign(fs.realpathSync, { native: fs.realpathSync });
replace(process as unknown as Record<string, Call>, "loadEnvFile", (call) => (...args) => {
  try {
    return call(...args);
  } catch (error) {
    return settled(answer("open", error, args));
  }
});

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

/** What to tell a script in place of a refusal; the refusal where there is nothing better to tell. */
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
  // a file was noted as read: whether it is there decides something too
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

/** Node's cp asks about each folder above the two, which belong to no stage. */
function mayCopy([from, to, options]: unknown[]): boolean {
  const { recursive, filter, errorOnExist } = (options ?? {}) as fs.CopySyncOptions;
  const isPlain = typeof from === "string" && typeof to === "string" && recursive && !filter && !errorOnExist;
  return (
    isPlain === true && process.permission.has("fs.read", from) && process.permission.has("fs.write", to)
  );
}

/** Links become what they lead to: the model lets no script make one. */
function copyTree(from: string, to: string, options: fs.CopySyncOptions): void {
  const stats = fs.statSync(from);
  if (stats.isDirectory()) {
    fs.mkdirSync(to, { recursive: true });
    for (const name of fs.readdirSync(from)) copyTree(join(from, name), join(to, name), options);
  } else if (options.force !== false || !fs.existsSync(to)) fs.copyFileSync(from, to, options.mode);
  if (options.preserveTimestamps) fs.utimesSync(to, stats.atime, stats.mtime);
}

/** 0 of a file, 1 of a folder, negative of what is not there: what Node's module loader asks, which is not held. */
function look(path: string): number {
  return (module as unknown as { _stat: (path: string) => number })._stat(path);
}

function absent(name: string, resource: string): Error {
  const call = { readFile: "open", readdir: "scandir", copyFile: "copyfile" }[name] ?? name;
  const error = new Error(`ENOENT: no such file or directory, ${call} '${resource}'`);
  return Object.assign(error, { errno: -2, code: "ENOENT", syscall: call, path: resource });
}

syncBuiltinESMExports();

// Node would hand its flags to every Node that the script starts; what is started is not held.
process.execArgv = process.execArgv.filter(
  (flag) => !/^--(permission|allow-|require=|disable-warning=SecurityWarning)/.test(flag),
);
