// Restore points of a large workspace: 20 sparse files of 5 GiB each, with a few MiB of data, and one file that changes
// between two restore points. Measures elapsed time, processor time, and bytes read and written, with the code that
// attempts use.
import { closeSync, ftruncateSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { RestorePointKeeper } from "@mlrb/agents/resume/restore-point-keeper";
import { plainSandbox } from "@mlrb/agents/sandbox/plain-sandbox";
import type { TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { leftRestorePoint } from "@mlrb/kit/attempts/left-restore-point";
import { type Bench, run } from "./tools.ts";

/** 2 % of the published budget of 24 h, in seconds. */
const budgetSeconds = 0.02 * 24 * 3600;

export async function benchRestorePoints(changedMiB: number, { work, row }: Bench): Promise<void> {
  const sandbox = await plainSandbox(join(work, "sandbox"));
  const workspace = join(sandbox.seenAs(""), "workspace");
  mkdirSync(workspace, { recursive: true });
  for (let file = 0; file < 20; file++) writeSparse(join(workspace, `sparse-${file}`));
  const folder = join(work, "restore-points");
  const clock = { after: 0, workingMs: 0 };
  let taken = Promise.withResolvers<TrajectoryEvent>();
  const keeper = new RestorePointKeeper({
    ...{ sandbox, folder, folders: ["workspace"], without: [], pauseMs: 0 },
    ...{ now: () => ({ ...clock }), write: (event) => taken.resolve(event) },
  });
  const take = async () => {
    clock.after++;
    clock.workingMs += 86_400_000; // far beyond the pause after the one before
    taken = Promise.withResolvers();
    keeper.look();
    const event = await taken.promise;
    if (event.event !== "restore-point")
      throw new Error(`no restore point was taken: ${JSON.stringify(event)}`);
    await setImmediate(); // it has removed what is older
  };
  const measured = async (what: string, work: () => Promise<unknown>) => {
    const begin = { at: performance.now(), ...usage() };
    await work();
    const end = { at: performance.now(), ...usage() };
    const seconds = (end.at - begin.at) / 1000;
    const against = "2 % of 24 h, 1 728 s";
    row(what, seconds, { against, other: budgetSeconds, target: 1 });
    row(`${what}: processor time`, end.cpu - begin.cpu);
    row(`${what}: read`, (end.read - begin.read) / 2 ** 20, { unit: "MB" });
    row(`${what}: written`, (end.written - begin.written) / 2 ** 20, { unit: "MB" });
  };
  const of = `100 GiB, sparse, ${changedMiB} MiB of data`;
  run("sh", ["-c", `head -c ${changedMiB}M /dev/urandom > ${join(workspace, "model")}`]);
  await measured(`first restore point of ${of}`, take);
  run("sh", ["-c", `head -c ${changedMiB}M /dev/urandom > ${join(workspace, "model")}`]);
  await measured("the next one, after this data changed", take);
  await measured("the next one, after no change", take);
  const other = await plainSandbox(join(work, "other"));
  const { restorePoint } = leftRestorePoint(folder)!;
  await measured("restored", () => other.restore!(join(folder, "contents"), restorePoint));
  run("cmp", [join(workspace, "model"), join(other.seenAs(""), "workspace/model")]);
  row("disk of two restore points", diskMiB(folder), { unit: "MB" });
  row("disk of the restored workspace", diskMiB(other.seenAs("")), { unit: "MB" });
  for (const one of [sandbox, other]) await one.close();
  for (const name of ["sandbox", "other", "restore-points"])
    rmSync(join(work, name), { recursive: true, force: true });
}

/** 5 GiB with 4 MiB of data at four places. */
function writeSparse(path: string): void {
  const file = openSync(path, "wx");
  for (let part = 0; part < 4; part++)
    writeSync(file, Buffer.alloc(1 << 20, part + 1), 0, 1 << 20, part << 30);
  ftruncateSync(file, 5 * 2 ** 30);
  closeSync(file);
}

/** Of this process and of programs that it waited for: processor seconds, bytes that were read and written. */
function usage(): { cpu: number; read: number; written: number } {
  const times = readFileSync("/proc/self/stat", "utf8")
    .replace(/^.*\) /, "")
    .split(" ")
    .slice(11, 15);
  const io = readFileSync("/proc/self/io", "utf8");
  const bytes = (name: string) => Number(new RegExp(`^${name}: (\\d+)$`, "m").exec(io)![1]);
  return {
    cpu: times.reduce((sum, ticks) => sum + Number(ticks), 0) / 100,
    read: bytes("rchar"),
    written: bytes("wchar"),
  };
}

function diskMiB(folder: string): number {
  return Number(run("du", ["-sm", folder]).split("\t")[0]);
}
