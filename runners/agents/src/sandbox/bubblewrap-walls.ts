// Walls of Linux namespaces, by bubblewrap: for hosts without a container engine. All programs of one sandbox
// stand in one set of namespaces, which ends with its first process, and that one with this process, however it
// ends. Under root, programs are a user of the host that has no account; otherwise this process's own user,
// in a user namespace. Limits are the kernel's control groups where this user may make some, and are metered and
// answered by ending everything where not.
import { readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ExecRequest, ExecResult, OverLimit, Walls, WallsRequest } from "@mlrb/core/ports/sandbox";
import { endProcesses } from "@mlrb/kit/processes/end-processes";
import { type FrozenProcesses, freezeProcesses, thawProcesses } from "@mlrb/kit/processes/freeze-processes";
import { openInside } from "../folders/open-folder.ts";
import { bubblewrapAbilities } from "./bubblewrap-abilities.ts";
import { bubblewrapArguments } from "./bubblewrap-arguments.ts";
import { type BubblewrapProcess, startBubblewrap } from "./bubblewrap-process.ts";
import { type ControlGroups, makeControlGroups, removeControlGroups } from "./control-groups.ts";
import { findNamespace, processesWith } from "./namespace-processes.ts";
import { type SandboxMeter, startMeter } from "./sandbox-meter.ts";
import { seccompFilter } from "./seccomp-filter.ts";

const init = readFileSync(join(dirname(fileURLToPath(import.meta.url)), "walls_init.py"), "utf8");

/** Its programs are the user to whom `request.folder` belongs. Throws where bubblewrap cannot be used here, and says why. */
export async function bubblewrapWalls(request: WallsRequest): Promise<Walls> {
  const asRoot = process.getuid?.() === 0;
  const { uid, gid, dev } = statSync(request.folder);
  if (asRoot && uid === 0)
    throw new Error("bug: programs behind walls would be root; give their folder to another user");
  const able = await bubblewrapAbilities();
  if ("missing" in able) throw new Error(able.missing);
  const groups = makeControlGroups(request.token, request.limits);
  let standing: Promise<Standing> | undefined;

  const stand = async (): Promise<Standing> => {
    const readOnly = await stillThere(request);
    const facts = { user: { uid, gid }, asRoot, canSize: able.canSize, python: able.python, readOnly };
    const given = (descriptors: number[]) => [
      ...(asRoot ? [String(uid), String(gid)] : ["-", "-"]),
      String(request.limits.diskBytes + beyond),
      groups.has.has("pids") || !able.countsProcessesApart ? "-" : String(request.limits.processes),
      groups.has.has("cpu") ? "-" : someCpus(request.limits.cpus).join(","),
      descriptors.length > 0 ? descriptors.join(",") : "-",
    ];
    const told = bubblewrapArguments(request, facts, { init, seccomp: seccompFilter()! });
    const started = await startBubblewrap(told, given, groups.open(), request.token);
    if ("failed" in started) throw new Error(`the sandbox could not be opened: ${started.failed}`);
    const now: Standing = { process: started, over: undefined, frozen: undefined, meter: undefined };
    now.meter = startMeter({
      ...{
        folder: request.folder,
        device: dev,
        limits: request.limits,
        first: started.first,
        has: groups.has,
      },
      over(limit) {
        now.over = limit;
        void end(now).catch(() => {}); // told by kill
      },
    });
    return now;
  };

  const end = async (now: Standing) => {
    now.meter?.stop();
    const ending = now.process.end();
    await groups.freeze(false); // a frozen process dies once it may run
    await ending;
  };

  const kill = async () => {
    const now = await standing?.catch(() => undefined);
    standing = undefined; // what is asked for next stands behind new walls around the same folder
    if (now) await end(now);
  };

  return {
    kind: "bubblewrap",
    where: { sandbox: `bubblewrap ${able.version}` },
    async exec(asked) {
      let now = await standing?.catch(() => undefined);
      if (now && !now.process.living() && now.over) standing = undefined; // ended by us: the next one is a new beginning
      standing ??= stand();
      try {
        now = await standing;
      } catch (error) {
        standing = undefined;
        return { kind: "lost", detail: (error as Error).message };
      }
      return await watched(now, asked);
    },
    async freeze() {
      const now = await standing?.catch(() => undefined);
      if (!now?.process.living()) return true;
      if (await groups.freeze(true)) return true;
      await groups.freeze(false); // what was frozen of it
      // the first process too: it starts programs
      now.frozen = await freezeProcesses(findNamespace(now.process.first));
      return now.frozen !== undefined || !now.process.living();
    },
    async thaw() {
      const now = await standing?.catch(() => undefined);
      if (!now?.process.living()) return true;
      const { frozen } = now;
      now.frozen = undefined;
      if (frozen) return thawProcesses(frozen, findNamespace(now.process.first));
      if (!(await groups.freeze(false))) throw new Error("the sandbox's control group does not thaw");
      return true;
    },
    kill,
    async close() {
      await kill();
      await groups.remove();
    },
  };

  async function watched(now: Standing, asked: ExecRequest): Promise<ExecResult> {
    const before = groups.met();
    const visible = { ...asked.env, ...gpuVariables(request) };
    const result = await now.process.exec({ ...asked, env: visible });
    if (result.kind !== "exited" && result.kind !== "signalled") return result;
    // a file that may not grow on is told to the program alone, and by its failure to us
    const failed = result.kind === "signalled" || result.code !== 0;
    if (failed && !now.over && now.process.living()) await now.meter?.look();
    const over = now.over ?? metLimit(now, result, { before, groups, request });
    return over ? { ...result, over } : result;
  }
}

/** How much one file may be larger than all together: so a look finds out that it met its limit. */
const beyond = 1 << 16;

/**
 * For whoever comes after a supervisor that was killed: its programs are dead as a rule, its control groups are
 * not gone, and a bubblewrap that had just begun may wait for good.
 */
export async function clearBubblewrap(token: string): Promise<void> {
  await endProcesses({ token, root: "/nonexistent", groups: [] });
  await removeControlGroups(token);
}

type Standing = {
  process: BubblewrapProcess;
  over: OverLimit | undefined;
  /** Where no control group does it. */
  frozen: FrozenProcesses | undefined;
  meter: SandboxMeter | undefined;
};

/** A limit that the kernel held, which ends a program, or refuses it something, and tells nobody. */
function metLimit(
  now: Standing,
  result: ExecResult,
  {
    before,
    groups,
    request,
  }: { before: ReturnType<ControlGroups["met"]>; groups: ControlGroups; request: WallsRequest },
): OverLimit | undefined {
  const { memoryBytes, processes, diskBytes } = request.limits;
  const after = groups.met();
  if (after.memory > before.memory)
    return { limit: "memory", detail: `its programs together took more than ${memoryBytes} bytes of memory` };
  // the first process and the one that just ended count too
  const full =
    !groups.has.has("pids") &&
    now.process.living() &&
    processesWith(now.process.first).length >= processes - 2;
  if (after.processes > before.processes || full)
    return { limit: "processes", detail: `more than ${processes} processes and threads at once` };
  if (result.kind === "signalled" && result.signal === "SIGXFSZ")
    return { limit: "disk", detail: `a file of more than ${diskBytes} bytes` };
  return undefined;
}

/** A program may have moved a folder that cannot be written: then nothing is shown in its place. Called while nothing runs inside. */
async function stillThere({ folder, readOnly }: WallsRequest): Promise<string[]> {
  const there: string[] = [];
  for (const path of readOnly) {
    const up = await openInside(folder, dirname(path)).catch(() => undefined);
    if (!up) continue;
    await up.handle.close();
    const stats = statSync(join(folder, path), { throwIfNoEntry: false });
    if (stats?.isDirectory() || stats?.isFile()) there.push(path);
  }
  return there;
}

function gpuVariables({ gpus }: WallsRequest): Record<string, string> {
  if (gpus.length === 0) return {};
  return { CUDA_VISIBLE_DEVICES: gpus.map(({ uuid }) => uuid).join(","), CUDA_DEVICE_ORDER: "PCI_BUS_ID" };
}

/** Some of the cores that this process may use, others for each sandbox as far as chance goes: a program may ask for all of them back. */
function someCpus(count: number): number[] {
  const list = /^Cpus_allowed_list:\s*(\S+)/m.exec(readFileSync("/proc/self/status", "latin1"))?.[1] ?? "0";
  const all = list.split(",").flatMap((range) => {
    const [first = 0, last = first] = range.split("-").map(Number);
    return Array.from({ length: last - first + 1 }, (_, index) => first + index);
  });
  const from = Math.floor(Math.random() * all.length);
  return Array.from(
    { length: Math.min(all.length, Math.max(1, Math.round(count))) },
    (_, index) => all[(from + index) % all.length]!,
  );
}
