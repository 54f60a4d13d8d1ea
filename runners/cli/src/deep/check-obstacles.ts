// Why a deep check cannot start: a source without lock or consent, a download that is missing, too few GPUs, no engine, no
// cluster.
import type { Instance, Plan } from "@mlrb/core/plan/plan";
import type { Sources } from "@mlrb/core/spec/manifest";
import { counted } from "@mlrb/core/text/counted";
import { containerEngine } from "@mlrb/docker/container-engine";
import type { Preview } from "@mlrb/local/decide/preview-plan";
import { gpusFor, gpusHere, usesGpusHere } from "@mlrb/local/leases/gpu-inventory";
import { unfitForSlurm } from "../gates/slurm-gate.ts";
import { downloadedBy, lacking } from "../gates/source-gate.ts";
import { typedProgram } from "../request/typed-program.ts";
import type { readConsents } from "../sources/consents.ts";
import { declaredSources } from "../sources/declared-sources.ts";

export type Obstacle = { cause: string; help: string };

type Host = {
  plan: Plan;
  /** Of everything that the checks need. */
  previews: Preview[];
  sources: Sources;
  consents: ReturnType<typeof readConsents>;
  /** The command that downloads what the profile needs. */
  download: string;
};

/** `needed`: the check and all instances that it needs. */
export async function checkObstacle(needed: Instance[], host: Host): Promise<Obstacle | undefined> {
  const [check] = needed.slice(-1) as [Instance];
  return (
    unlockedSource(check, host) ??
    missingDownload(needed, check, host) ??
    tooFewGpus(check) ??
    (await noEngine(needed)) ??
    (await noSlurm(needed))
  );
}

function unlockedSource(check: Instance, { sources, consents }: Host): Obstacle | undefined {
  const name = downloadedBy(check);
  if (name === undefined) return undefined;
  const declared = declaredSources([name], sources);
  if ("problems" in declared)
    return { cause: declared.problems[0]!.message, help: `${typedProgram()} check` };
  const { open, unread } = lacking(declared.sources, consents);
  if (open.length > 0)
    return { cause: "the source is not locked", help: `${typedProgram()} sources lock ${name}` };
  if (unread.length > 0)
    return {
      cause: "no person accepted the licence here",
      help: `${typedProgram()} sources accept ${name}`,
    };
  return undefined;
}

/** A check downloads one small file and no model: a model is loaded where it is already. */
function missingDownload(needed: Instance[], check: Instance, host: Host): Obstacle | undefined {
  const reused = new Set(host.previews.filter(({ action }) => action === "reuse").map(({ index }) => index));
  const missing = needed
    .filter((one) => one !== check && !reused.has(one.index))
    .flatMap((one) => downloadedBy(one) ?? []);
  if (missing.length === 0) return undefined;
  return { cause: `not downloaded: ${[...new Set(missing)].join(", ")}`, help: host.download };
}

function tooFewGpus(check: Instance): Obstacle | undefined {
  if (!usesGpusHere(check)) return undefined;
  const wanted = check.execution.resources.gpus;
  const { gpus, trouble } = gpusHere([check]);
  const there = gpusFor(wanted, gpus).length;
  if (there >= wanted) return undefined;
  const said = trouble === undefined || trouble === "-L" ? "" : `; nvidia-smi reports: ${trouble}`;
  return {
    cause: `needs ${counted(wanted, "GPU")}, this host has ${there}${said}`,
    help: "repair the driver (nvidia-smi -L), or choose a profile without GPUs",
  };
}

async function noEngine(needed: Instance[]): Promise<Obstacle | undefined> {
  if (needed.every(({ execution }) => execution.executor !== "docker")) return undefined;
  const engine = await containerEngine();
  if (!("trouble" in engine)) return undefined;
  return { cause: `no container engine: ${engine.trouble.detail}`, help: "docs/docker.md sets one up" };
}

async function noSlurm(needed: Instance[]): Promise<Obstacle | undefined> {
  const jobs = needed.filter(({ execution }) => execution.executor === "slurm");
  if (jobs.length === 0) return undefined;
  const unfit = unfitForSlurm(jobs);
  if (unfit) return { cause: unfit.message, help: "docs/cluster.md says which stages can be jobs" };
  const { slurmTrouble } = await import("@mlrb/slurm/slurm-trouble");
  const cause = await slurmTrouble();
  return cause === undefined ? undefined : { cause, help: "docs/cluster.md" };
}
