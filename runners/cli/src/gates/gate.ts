// What gates decide by. A gate says what instances need of this machine and lack: a run that would start them is
// refused with it, and `doctor` prints the same.
import type { Instance, Plan } from "@mlrb/core/plan/plan";
import { shellWord } from "@mlrb/core/ports/command-line";
import type { Sources } from "@mlrb/core/spec/manifest";
import type { ContainerEngine } from "@mlrb/docker/container-engine";
import type { CallTrouble } from "@mlrb/docker/engine-call";
import type { Preview } from "@mlrb/local/decide/preview-plan";
import { sourceFiles } from "@mlrb/local/digests/file-digest-memory";
import { gpusHere, type Inventory, usesGpusHere } from "@mlrb/local/leases/gpu-inventory";
import type { RunPurse, StalePolicy } from "@mlrb/local/run/run-request";
import type { Workspace } from "@mlrb/local/store/workspace";
import type { Request } from "../request/request.ts";
import { typedProgram } from "../request/typed-program.ts";
import type { Check } from "./check.ts";

/** The more instances start, the more is missing. */
export type Gate = (asked: Asked) => Check[] | Promise<Check[]>;

export type Asked = Pick<Request, "plan" | "inProfile"> & {
  /** What would start, in plan order. */
  starts: Instance[];
  sources: Sources;
  /** The state folder. */
  state: string;
  purse: RunPurse;
  /** The command that would start them, as typed. */
  command?: string;
  host: Host;
};

/** This machine, asked only for what a gate needs, and once. */
export type Host = {
  env: NodeJS.ProcessEnv;
  gpus(wanting: Instance[]): Inventory;
  engine(): Promise<ContainerEngine | { trouble: CallTrouble }>;
  /** Why no job can be submitted; undefined if one can. */
  slurmTrouble(): Promise<string | undefined>;
  /** Of the disk of the state folder, where that is wanted. */
  freeBytes?: number;
};

export function hostNow(): Host {
  let engine: ReturnType<Host["engine"]> | undefined;
  let slurm: ReturnType<Host["slurmTrouble"]> | undefined;
  return {
    env: process.env,
    gpus: (wanting) => gpusHere(wanting.filter(usesGpusHere)),
    engine: () => (engine ??= import("@mlrb/docker/container-engine").then((one) => one.containerEngine())),
    slurmTrouble: () => (slurm ??= import("@mlrb/slurm/slurm-trouble").then((one) => one.slurmTrouble())),
  };
}

/** What decides whether an instance would start. */
export type Deciding = { workspace: Workspace; stale: StalePolicy };

export type StaleOptions = { rerun?: boolean; acceptStale?: string };

/** What happens to stale attempts: by the command line, else by the profile. */
export function stalePolicy(plan: Plan, { rerun, acceptStale }: StaleOptions): StalePolicy {
  if (acceptStale !== undefined) return { kind: "accept", why: acceptStale };
  return { kind: rerun ? "rerun" : plan.onStale };
}

export function askedOf(
  { plan, inProfile }: Pick<Request, "plan" | "inProfile">,
  { workspace }: Pick<Deciding, "workspace">,
  purse: RunPurse,
): Omit<Asked, "starts"> {
  const command = [typedProgram(), ...process.argv.slice(2).map(shellWord)].join(" ");
  const { repository, state } = workspace;
  const sources = sourceFiles(repository);
  return { plan, inProfile, sources, state: state.state, purse, command, host: hostNow() };
}

/** The previews whose instances a run would start. */
export function startedIn<T extends Pick<Preview, "action" | "onStale">>(previews: T[]): T[] {
  return previews.filter(
    ({ action, onStale }) => action === "run" || (action === "stale" && onStale === "rerun"),
  );
}

/** The options that select the other profiles in which the request is valid and `fits`. */
export function profilesWhere(
  { plan, inProfile }: Pick<Asked, "plan" | "inProfile">,
  fits: (other: Instance[], plan: Plan) => boolean,
): string[] {
  const others = plan.profiles.filter((name) => {
    const other = name === plan.profile ? undefined : inProfile(name);
    if (!other) return false;
    const instances = other.selected.map((index) => other.plan.instances[index]!);
    return fits(instances, other.plan);
  });
  return others.map((name) => `--profile ${name}`);
}

/** `"one", "two"`; after three `2 more stages`. */
export function quoted(names: Iterable<string>): string {
  const all = [...new Set(names)].map((name) => `"${name}"`);
  return (all.length > 3 ? [...all.slice(0, 3), `${all.length - 3} more stages`] : all).join(", ");
}
