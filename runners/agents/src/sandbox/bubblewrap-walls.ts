// Walls by bubblewrap, for hosts without a container engine. All programs of one sandbox share one set of
// namespaces. It ends with its first process, which ends with this process, however this one ends. Under root,
// programs run as a host user without an account. Otherwise they run as this process's user, in a user namespace.
// Limits are the kernel's control groups if this user may make some. If not, usage is metered, and everything is
// ended over a limit.
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { gpuVariables } from "@mlrb/core/ports/gpu";
import type { ExecRequest, ExecResult, OverLimit, Walls, WallsRequest } from "@mlrb/core/ports/sandbox";
import { hasDiskImage } from "@mlrb/kit/files/disk-image";
import { diskLimit } from "@mlrb/kit/files/disk-limit";
import { withoutLinks } from "@mlrb/kit/files/without-links";
import {
  type ControlGroups,
  makeControlGroups,
  removeControlGroups,
} from "@mlrb/kit/processes/control-groups";
import { endProcesses, findMarked } from "@mlrb/kit/processes/end-processes";
import {
  type FrozenProcesses,
  freezePart,
  freezeProcesses,
  thawProcesses,
} from "@mlrb/kit/processes/freeze-processes";
import { overLimits } from "@mlrb/kit/processes/over-limits";
import type { SandboxUser } from "@mlrb/kit/processes/sandbox-user";
import { seccompFilter } from "@mlrb/kit/processes/seccomp-filter";
import { type BubblewrapAbilities, bubblewrapAbilities } from "./bubblewrap-abilities.ts";
import { bubblewrapArguments } from "./bubblewrap-arguments.ts";
import { startBubblewrap } from "./bubblewrap-process.ts";
import { findNamespace, processesWith } from "./namespace-processes.ts";
import { startMeter } from "./sandbox-meter.ts";
import type { SandboxProcess } from "./sandbox-process.ts";
import { killed } from "./start-gate.ts";

const initProgram = readFileSync(join(import.meta.dirname, "walls_init.py"), "utf8");

/** Programs run as the owner of `request.folder`. Throws, with the reason, where bubblewrap cannot be used. */
export async function bubblewrapWalls(request: WallsRequest): Promise<Walls> {
  const able = await bubblewrapAbilities();
  if ("missing" in able) throw new Error(able.missing);
  return new BubblewrapWalls(request, able);
}

/**
 * Clears up after a killed supervisor. Its programs are usually dead, but its control groups still exist, and a
 * bubblewrap that had just started may wait for ever.
 */
export async function clearBubblewrap(token: string): Promise<void> {
  await endProcesses({ token, root: "/nonexistent", groups: [] });
  await removeControlGroups(token);
}

class BubblewrapWalls implements Walls {
  readonly kind = "bubblewrap";
  readonly where: Record<string, string>;
  readonly #request: WallsRequest;
  readonly #able: BubblewrapAbilities;
  readonly #user: SandboxUser;
  readonly #asRoot = process.getuid?.() === 0;
  readonly #groups: ControlGroups;
  #opening: Promise<OpenWalls> | undefined;
  #kills = 0;

  constructor(request: WallsRequest, able: BubblewrapAbilities) {
    const { uid, gid } = statSync(request.folder);
    if (this.#asRoot && uid === 0)
      throw new Error("bug: programs behind walls would be root; give their folder to another user");
    this.#request = request;
    this.#able = able;
    this.#user = { uid, gid };
    this.#groups = makeControlGroups(request.token, request.limits);
    this.where = {
      sandbox: `bubblewrap ${able.version}`,
      memoryLimit: this.#groups.has.has("memory") ? "kernel" : "polled",
    };
  }

  async exec(asked: ExecRequest): Promise<ExecResult> {
    const before = this.#kills;
    let open = await this.#current();
    if (this.#kills !== before) return killed; // new walls would outlive the kill
    if (open && !open.process.living() && open.over) this.#opening = undefined; // we ended it: open new walls
    this.#opening ??= this.#open();
    try {
      open = await this.#opening;
    } catch (error) {
      this.#opening = undefined;
      return { kind: "lost", detail: (error as Error).message };
    }
    return await this.#run(open, asked);
  }

  async freeze(): Promise<boolean> {
    const open = await this.#current();
    if (!open?.process.living()) return true;
    if (await this.#groups.freeze(true)) return true;
    await this.#groups.freeze(false); // undo a partial freeze
    // the first process too: it starts programs
    open.frozen = await freezeProcesses(findNamespace(open.process.first));
    return open.frozen !== undefined || !open.process.living();
  }

  async thaw(): Promise<boolean> {
    const open = await this.#current();
    if (!open?.process.living()) return true;
    const { frozen } = open;
    open.frozen = undefined;
    if (frozen) return thawProcesses(frozen, findNamespace(open.process.first));
    if (!(await this.#groups.freeze(false))) throw new Error("the sandbox's control group does not thaw");
    return true;
  }

  async freezePart(variable: { name: string; value: string }): Promise<(() => void) | undefined> {
    const open = await this.#current();
    if (!open?.process.living()) return undefined;
    return freezePart(findMarked(findNamespace(open.process.first), variable));
  }

  async kill(): Promise<void> {
    this.#kills++;
    const open = await this.#current();
    this.#opening = undefined; // the next program gets new walls around the same folder
    if (open) await this.#end(open);
  }

  async close(): Promise<void> {
    await this.kill();
    await this.#groups.remove();
  }

  async #current(): Promise<OpenWalls | undefined> {
    return await this.#opening?.catch(() => undefined);
  }

  async #open(): Promise<OpenWalls> {
    const { countsProcessesApart, canSize, python } = this.#able;
    const { folder, limits, readOnly, token } = this.#request;
    const { has } = this.#groups;
    const asRoot = this.#asRoot;
    const user = this.#user;
    const seccomp = seccompFilter(process.arch, {
      polledMemory: !has.has("memory"),
      polledDisk: !hasDiskImage(folder),
    })!;
    // a program may have moved a read-only folder: then nothing is shown in its place
    const facts = { user, asRoot, canSize, python, readOnly: withoutLinks(folder, readOnly) };
    const initArguments = (descriptors: number[]) => [
      ...(asRoot ? [String(user.uid), String(user.gid)] : ["-", "-"]),
      String(limits.diskBytes + beyond),
      has.has("pids") || !countsProcessesApart ? "-" : String(limits.processes),
      has.has("cpu") ? "-" : someCpus(limits.cpus).join(","),
      descriptors.length > 0 ? descriptors.join(",") : "-",
    ];
    const shown = bubblewrapArguments(this.#request, facts, { init: initProgram, seccomp });
    const started = await startBubblewrap(shown, initArguments, this.#groups.open(), token);
    if ("failed" in started) throw new Error(`the sandbox could not be opened: ${started.failed}`);
    const open: OpenWalls = { process: started };
    const find = () => processesWith(started.first);
    const disk = await diskLimit(folder, { limitBytes: limits.diskBytes, find }).catch(async (error) => {
      await this.#end(open); // nobody else knows of it
      throw error;
    });
    open.meter = startMeter({
      ...{ disk, limits, has, first: started.first },
      over: (limit) => {
        open.over = limit;
        void this.#end(open).catch(() => {}); // kill reports the error
      },
    });
    return open;
  }

  async #end(open: OpenWalls): Promise<void> {
    open.meter?.stop();
    const ending = open.process.end();
    await this.#groups.freeze(false); // a frozen process dies only once it may run
    await ending;
  }

  async #run(open: OpenWalls, asked: ExecRequest): Promise<ExecResult> {
    const before = this.#groups.met();
    const { gpus } = this.#request;
    const { CUDA_VISIBLE_DEVICES } = gpuVariables(gpus);
    const devices = gpus.length > 0 && { CUDA_VISIBLE_DEVICES, CUDA_DEVICE_ORDER: "PCI_BUS_ID" };
    // a member of a team may have a part of them
    const result = await open.process.exec({ ...asked, env: { ...devices, ...asked.env } });
    if (result.kind !== "exited" && result.kind !== "signalled") return result;
    // only the program learns that its file may not grow; the harness sees its failure
    const failed = result.kind === "signalled" || result.code !== 0;
    if (failed && !open.over && open.process.living()) await open.meter?.look();
    const over = open.over ?? this.#metLimit(open, result, before);
    return over ? { ...result, over } : result;
  }

  /** A limit that the kernel held: it ends a program or refuses it something, and reports nothing. */
  #metLimit(open: OpenWalls, result: ExecResult, before: LimitsMet): OverLimit | undefined {
    const { limits } = this.#request;
    const after = this.#groups.met();
    if (after.memory > before.memory) return overLimits.memory(limits);
    // the first process and the one that just ended count too
    const full =
      !this.#groups.has.has("pids") &&
      open.process.living() &&
      processesWith(open.process.first).length >= limits.processes - 2;
    if (after.processes > before.processes || full) return overLimits.processes(limits);
    if (result.kind === "signalled" && result.signal === "SIGXFSZ")
      return { limit: "disk", detail: `a file of more than ${limits.diskBytes} bytes` };
    return undefined;
  }
}

type LimitsMet = ReturnType<ControlGroups["met"]>;

type OpenWalls = {
  process: SandboxProcess;
  over?: OverLimit;
  /** Where no control group freezes. */
  frozen?: FrozenProcesses | undefined;
  meter?: ReturnType<typeof startMeter>;
};

/** A single file may exceed the limit of all files by this much, so that a look at the disk sees the limit passed. */
const beyond = 1 << 16;

/**
 * Some of the cores that this process may use, starting at a random one for each sandbox. A program may ask for
 * all of them back.
 */
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
