// Preloaded into a stage's script that runs under Node's permission model: notes what was refused, so that the
// runner can say which line of YAML allows it. Small, because every script waits for it.
import { subscribe } from "node:diagnostics_channel";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const file = process.env.MLRB_REFUSALS;
const noted = new Set<string>();

/** More than a person reads; a script that tries again and again must not fill the disk. */
const notedMax = 200;

function note(kind: string, resource: string): void {
  const line = JSON.stringify({ kind, resource });
  if (file === undefined || noted.size >= notedMax || noted.has(line)) return;
  noted.add(line);
  try {
    fs.appendFileSync(file, `${line}\n`);
  } catch {
    // the script's own error says what was refused
  }
}

type Refused = { permission: string; resource: string };

subscribe("node:permission-model:worker", () => note("program", "a worker thread"));
subscribe("node:permission-model:fs", (message) => {
  const { permission, resource } = message as Refused;
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
// Of the two realpaths, the one in JavaScript asks for every link above the path, which belongs to no stage.
const { realpath, realpathSync } = fs;
fs.realpath = Object.assign(realpath.native.bind(fs), {
  native: realpath.native,
  __promisify__: fs.promises.realpath,
});
fs.realpathSync = Object.assign(realpathSync.native.bind(fs), { native: realpathSync.native });

// What is not there was not read: a script may look for a file that is optional. One that is there was noted above.
const { existsSync } = fs;
fs.existsSync = (path) => {
  try {
    return existsSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_ACCESS_DENIED") return false;
    throw error;
  }
};
syncBuiltinESMExports();

// Node would hand its flags to every Node that the script starts; what is started is not held.
process.execArgv = process.execArgv.filter(
  (flag) => !/^--(permission|allow-|require=|disable-warning=SecurityWarning)/.test(flag),
);
