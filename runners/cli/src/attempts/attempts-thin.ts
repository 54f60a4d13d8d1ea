// `pipeline attempts thin`: removes weights from recorded attempts, from their records and from the cache.
// Everything else of the records stays. Weights may go once everything planned was made from them; the snapshots
// go before the submission, and the submission only if a person asks for it.

import type { Instance, Plan } from "@mlrb/core/plan/plan";
import { counted } from "@mlrb/core/text/counted";
import { formatBytes } from "@mlrb/core/text/units";
import { forgetUnchanged } from "@mlrb/local/decide/no-op-fast-path";
import { previewPlan } from "@mlrb/local/decide/preview-plan";
import { contentIn } from "@mlrb/local/decide/thinned-inputs";
import type { HeldRecord } from "@mlrb/local/records/attempt-records";
import { thinRecords, type WantedThin } from "@mlrb/local/records/thin-records";
import type { Result } from "@mlrb/local/run/result";
import { liveRun } from "@mlrb/local/store/garbage-collection";
import { openWorkspace, type Workspace } from "@mlrb/local/store/workspace";
import { type AttemptPlace, attemptPlace, findAttempt } from "../request/find-attempt.ts";
import { failed, refuseWords } from "../request/refuse.ts";
import { parseSet, type Request, readRequest } from "../request/request.ts";
import type { PlaceOptions } from "../request/root-folder.ts";
import { typedProgram } from "../request/typed-program.ts";
import { oneLine, printJson, printLine } from "../show/print.ts";

export type ThinOptions = PlaceOptions & { keep?: "final" | "none"; dryRun: boolean; set: string[] };

/** Returns 1 if some weights that were asked for stay. */
export async function attemptsThin(
  repository: string,
  asked: string[],
  options: ThinOptions,
): Promise<number> {
  const place = attemptPlace(repository, options.root);
  const chosen = chosenRecords(asked, place);
  if (typeof chosen === "string") return refuseWords(chosen);
  const problem = foreignAxis(chosen, options.set);
  if (problem !== undefined) return refuseWords(problem);
  const busy = liveRun(place.state);
  if (busy !== undefined)
    return failed(`run-active: the run ${busy} may need the weights`, "wait for its end");
  const planned: PlannedAttempt[] = [];
  let workspace: Workspace | undefined;
  const runs = Map.groupBy(chosen, ({ record: { slot } }) => `${slot.pipeline} ${slot.profile}`);
  for (const records of runs.values()) {
    const found = await plannedHere(repository, records[0]!, options);
    if (!found) return 2;
    workspace ??= found.workspace;
    planned.push(...records.map((held) => ({ held, may: mayGo(held, options.keep, found), ...found })));
  }
  if (!workspace) {
    process.stdout.write("no attempt is recorded here\n");
    return 0;
  }
  const why = `attempts thin${options.keep === undefined ? "" : ` --keep ${options.keep}`}`;
  const report = thinAttempts(planned, workspace, { why, dryRun: options.dryRun });
  if (options.json) for (const line of thinJson(report, options.dryRun)) printJson(line);
  else for (const line of thinText(report, options.dryRun)) printLine(line);
  return report.attempts.some(({ may }) => may.refused.length > 0) ? 1 : 0;
}

/** The named records, or the current record of each attempt; a problem in words. */
function chosenRecords(asked: string[], place: AttemptPlace): HeldRecord[] | string {
  const { records } = place;
  if (asked.length === 0)
    return records
      .readable((_, { message }) => process.stderr.write(`left out: ${oneLine(message)}\n`))
      .filter(({ digest, record }) => records.currentIn(record.slot) === digest);
  const chosen = new Map<string, HeldRecord>();
  for (const what of asked) {
    const found = findAttempt(what, place);
    if (typeof found === "string") return found;
    if (found.kind !== "record")
      return `not-recorded: ${oneLine(what)} is ${found.kind}, and only records can be thinned\n  help: \`${typedProgram()} attempts list\` shows which attempts are recorded`;
    chosen.set(found.digest, found);
  }
  return [...chosen.values()];
}

/** An axis of `--set` that some attempt does not have: it would only hide stages that still need the weights. */
function foreignAxis(chosen: readonly HeldRecord[], flags: string[]): string | undefined {
  const set = parseSet(flags);
  if ("code" in set) return undefined; // the request names it
  for (const { record } of chosen) {
    const axis = Object.keys(set).find((name) => !(name in record.axes));
    if (axis !== undefined)
      return `foreign-axis: ${oneLine(record.slot.stage)} has no axis ${oneLine(axis)}\n  help: --set here only chooses attempts, by their axes: ${Object.keys(record.axes).join(", ")}; weights go if all stages that read them are done`;
  }
  return undefined;
}

/** A plan with what is up to date in it, by plan index. */
type Made = { plan: Plan; results: readonly (Result | undefined)[] };
/** Another profile of the pipeline. Without `made` it cannot be planned. */
type OtherProfile = { profile: string; made: Made | undefined };
type Planned = Made & { workspace: Workspace; others: OtherProfile[] };

/** The plan of a record's pipeline and profile, with what is up to date; undefined after printing its problems. */
async function plannedHere(
  repository: string,
  { record: { slot } }: HeldRecord,
  { root, json, set }: ThinOptions,
): Promise<Planned | undefined> {
  const { pipeline, profile } = slot;
  const asked = { profile, only: [], set, json, ...(root !== undefined && { root }) };
  const request = await readRequest(repository, pipeline, asked);
  if (!request) return undefined;
  const openIn = (name: string) => openWorkspace({ repository, root: request.root, pipeline, profile: name });
  const madeIn = async (name: string, { plan, selected }: Pick<Request, "plan" | "selected">) => {
    const gate = { workspace: openIn(name), stale: { kind: "leave" } } as const;
    return { plan, results: (await previewPlan(plan, selected, gate)).results };
  };
  const whole = set.length === 0 ? request : await readRequest(repository, pipeline, { ...asked, set: [] });
  if (!whole) return undefined;
  // a record is found by its key, so other profiles may need the same weights
  const others: OtherProfile[] = [];
  for (const name of whole.plan.profiles.filter((other) => other !== profile)) {
    const planned = whole.inProfile(name);
    others.push({ profile: name, made: planned && (await madeIn(name, planned)) });
  }
  return { ...(await madeIn(profile, request)), workspace: openIn(profile), others };
}

/** What may go of one attempt, and what may not, with the cause. */
type MayGo = { instance?: Instance; outputs: string[]; refused: { output: string; why: string }[] };

function mayGo(
  { digest, record }: HeldRecord,
  keep: ThinOptions["keep"],
  { plan, results, others }: Planned,
): MayGo {
  const asked = ["snapshots", ...(keep === "none" ? ["submission"] : [])].filter(
    (output) => record.outputs[output]?.kind === "dir",
  );
  const instance = plan.instances.find(({ id }) => id === record.slot.stage);
  const refuse = (why: string) => ({ outputs: [], refused: asked.map((output) => ({ output, why })) });
  if (!instance) return refuse("the plan does not have this attempt; pass the --set of its run");
  if (results[instance.index]?.record?.digest !== digest)
    return { instance, ...refuse("a run would not use this record: it is stale or not current") };
  const outputs: string[] = [];
  const refused: MayGo["refused"] = [];
  for (const output of asked) {
    const open = openReaders(instance, output, { plan, results });
    const elsewhere = others.flatMap((other) => openIn(other, digest, output) ?? []);
    const why = [...(open.length > 0 ? [`not made yet: ${shown(open)}`] : []), ...elsewhere];
    if (why.length === 0) outputs.push(output);
    else refused.push({ output, why: why.join("; ") });
  }
  return { instance, outputs, refused };
}

/** The stages that read an output, directly or not, and whose result is not up to date. */
function openReaders(attempt: Instance, output: string, { plan, results }: Made): string[] {
  return readersOf(attempt, [output], plan).flatMap(({ index, id }) =>
    /^(reused|succeeded)$/.test(results[index]?.outcome.kind ?? "") ? [] : [id],
  );
}

/** What another profile still needs of a record, in words; undefined if it needs nothing or uses another record. */
function openIn({ profile, made }: OtherProfile, digest: string, output: string): string | undefined {
  if (!made) return `profile ${profile} cannot be planned`;
  const open = made.plan.instances
    .filter(({ index }) => made.results[index]?.record?.digest === digest)
    .flatMap((instance) => openReaders(instance, output, made));
  return open.length === 0 ? undefined : `not made yet in profile ${profile}: ${shown(open)}`;
}

/**
 * The instances that read these outputs of an attempt, and everything that is made of theirs. Of collecting stages
 * only those that read folders: what collects scores or digests can run again.
 */
export function readersOf(attempt: Instance, outputs: readonly string[], plan: Plan): Instance[] {
  const reads = new Set<number>();
  const isMade = ({ from, output }: { from: number; output: string }) =>
    reads.has(from) || (from === attempt.index && outputs.includes(output));
  const isFolder = ({ from, output }: { from: number; output: string }) =>
    plan.instances[from]!.stage.gives.some(({ name, kind }) => name === output && kind === "dir");
  for (const { index, inputs, members } of plan.instances) {
    const collects = members.some((one) => !one.digestOnly && isFolder(one) && isMade(one));
    if (collects || inputs.some(isMade)) reads.add(index);
  }
  return plan.instances.filter(({ index }) => reads.has(index));
}

/** `score[scorer=x]`: a stage instance without the axes that it shares with its attempt. */
function nameBelow(attempt: Instance, { stage, axes }: Instance): string {
  const own = Object.entries(axes).filter(([axis]) => !(axis in attempt.axes));
  return own.length === 0
    ? stage.name
    : `${stage.name}[${own.map(([axis, value]) => `${axis}=${value}`).join(",")}]`;
}

/** At most three names, and how many more there are. */
function shown(names: readonly string[]): string {
  const more = names.length > 3 ? ` and ${names.length - 3} more` : "";
  return `${names.slice(0, 3).join(", ")}${more}`;
}

type PlannedAttempt = Made & { held: HeldRecord; may: MayGo };

type ThinReport = ReturnType<typeof thinAttempts>;

function thinAttempts(
  planned: readonly PlannedAttempt[],
  workspace: Workspace,
  { why, dryRun }: { why: string; dryRun: boolean },
) {
  const wanted = planned.map(
    ({ held, may }): WantedThin => ({ digest: held.digest, record: held.record, outputs: may.outputs, why }),
  );
  const { records, contents, freed } = thinRecords(wanted, workspace, { now: new Date(), dryRun });
  if (records.some(({ damaged }) => damaged.length > 0)) forgetUnchanged(workspace.state);
  const attempts = planned.map((one, at) => {
    return { ...one, ...records[at]!, may: withDamaged(one.may, records[at]!.damaged) };
  });
  const lost = attempts.flatMap(({ may: { instance, outputs }, plan, results }) => {
    if (!instance) return [];
    const isLost = ({ from, output }: Instance["inputs"][number]) => {
      const artifact = results[from]?.outputs[output];
      return artifact && contentIn(artifact, workspace.store, (content) => contents.has(content));
    };
    const readers = readersOf(instance, outputs, plan).filter(({ inputs }) => inputs.some(isLost));
    return readers.map((one) => nameBelow(instance, one));
  });
  /** Stages of these attempts that cannot run again, in plan order, without the attempts' own axes. */
  const cannotRun = [...new Set(lost)];
  return { attempts, freed, cannotRun };
}

/** What was made of the weights is damaged: a run makes it again while the weights are there. */
function withDamaged(may: MayGo, damaged: readonly string[]): MayGo {
  if (damaged.length === 0) return may;
  const why = `its results are damaged; run again, or \`cache gc\` if no plan has them: ${shown(damaged)}`;
  return {
    ...may,
    outputs: [],
    refused: [...may.refused, ...may.outputs.map((output) => ({ output, why }))],
  };
}

function thinText({ attempts, freed, cannotRun }: ThinReport, dryRun: boolean): string[] {
  const lines = attempts.flatMap(({ record, files, shared, held: of, may }) => {
    const head = `${record.slice(0, 12)}  ${of.record.slot.stage}`;
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    const held = `${counted(shared, "file")} ${shared === 1 ? "stays" : "stay"}: held by other records, given models or a kept submission`;
    const also = shared > 0 ? `; ${held}` : "";
    const verb = dryRun ? "would go" : "thinned ";
    const gone = `${verb}  ${head}  ${counted(files.length, "file")}, ${formatBytes(bytes)}${also}`;
    return [
      ...(files.length > 0 ? [gone] : []),
      ...(files.length === 0 && shared > 0 ? [`kept      ${head} ${held}`] : []),
      ...may.refused.map(({ output, why }) => `kept      ${head}  its ${output}: ${why}`),
    ];
  });
  const some = attempts.filter(({ files }) => files.length > 0).length;
  const end = `${counted(some, "attempt")} ${dryRun ? "would be thinned" : "thinned"}, ${formatBytes(freed)} ${dryRun ? "would be freed" : "freed"}`;
  const list = cannotRun.length > 0 ? [`cannot run again for them: ${cannotRun.join(", ")}`] : [];
  return [...lines, end, ...list];
}

function thinJson({ attempts, freed, cannotRun }: ThinReport, dryRun: boolean): object[] {
  return [
    ...attempts.map(({ record, files, shared, may: { refused } }) => {
      return { event: "attempt-thin", record, files, shared, refused };
    }),
    { event: "attempts-thin", dryRun, freed, cannotRun },
  ];
}
