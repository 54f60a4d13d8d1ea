// `pipeline attempts thin`: removes weights from recorded attempts, from their records and from the cache. Everything
// else of the records stays.

import type { Plan } from "@mlrb/core/plan/plan";
import { counted } from "@mlrb/core/text/counted";
import type { RetainSpec } from "@mlrb/formats/declared/pipeline";
import { previewPlan } from "@mlrb/local/decide/preview-plan";
import type { HeldRecord } from "@mlrb/local/records/attempt-records";
import type { Result } from "@mlrb/local/run/result";
import { liveRun } from "@mlrb/local/store/garbage-collection";
import { openWorkspace, type Workspace } from "@mlrb/local/store/workspace";
import { type AttemptPlace, attemptPlace, findAttempt } from "../request/find-attempt.ts";
import { parseSet, type Request, readRequest } from "../request/request.ts";
import type { PlaceOptions } from "../request/root-folder.ts";
import { typedProgram } from "../request/typed-program.ts";
import { oneLine } from "../show/one-line.ts";
import { printJson } from "../show/print-json.ts";
import { type PlannedAttempt, thinAttempts } from "./thin-attempts.ts";
import { thinJson, thinText } from "./thin-lines.ts";
import { mayGo, type OtherProfile } from "./thin-plan.ts";

export type ThinOptions = PlaceOptions & { keep?: "final" | "none"; dryRun: boolean; set: string[] };

/** Returns 1 if some weights that were asked for stay. */
export async function attemptsThin(
  repository: string,
  asked: string[],
  options: ThinOptions,
): Promise<number> {
  const place = attemptPlace(repository, options.root);
  const chosen = chosenRecords(asked, place);
  if (typeof chosen === "string") {
    process.stderr.write(`${chosen}\n`);
    return 2;
  }
  const foreign = foreignAxis(chosen, options.set);
  if (foreign !== undefined) {
    process.stderr.write(`${foreign}\n`);
    return 2;
  }
  const busy = liveRun(place.state);
  if (busy !== undefined) {
    process.stderr.write(`run-active: the run ${busy} may need the weights\n  help: wait for its end\n`);
    return 1;
  }
  const planned: PlannedAttempt[] = [];
  let workspace: Workspace | undefined;
  for (const records of Map.groupBy(
    chosen,
    ({ record: { slot } }) => `${slot.pipeline} ${slot.profile}`,
  ).values()) {
    const found = await plannedHere(repository, records[0]!, options);
    if (!found) return 2;
    workspace ??= found.workspace;
    const keep = options.keep ?? found.plan.retain.weights;
    planned.push(...records.map((held) => ({ held, may: mayGo(held, keep, found), ...found })));
  }
  if (!workspace) {
    process.stdout.write("no attempt is recorded here\n");
    return 0;
  }
  const why = `attempts thin${options.keep === undefined ? "" : ` --keep ${options.keep}`}`;
  const report = thinAttempts(planned, workspace, { why, dryRun: options.dryRun });
  if (options.json) for (const line of thinJson(report, options.dryRun)) printJson(line);
  else for (const line of thinText(report, options.dryRun)) process.stdout.write(`${oneLine(line)}\n`);
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

type Planned = { plan: Plan; results: readonly (Result | undefined)[]; workspace: Workspace };

/** The plan of a record's pipeline and profile, with what is up to date; undefined after printing its problems. */
async function plannedHere(
  repository: string,
  { record: { slot } }: HeldRecord,
  { root, json, set }: ThinOptions,
): Promise<(Planned & { others: OtherProfile[] }) | undefined> {
  const { pipeline, profile } = slot;
  const asked = { profile, only: [], set, json, ...(root !== undefined && { root }) };
  const request = await readRequest(repository, pipeline, asked);
  if (!request) return undefined;
  const { plan, selected } = request;
  const workspace = openWorkspace({ repository, root: request.root, pipeline, profile });
  const { results } = await previewPlan(plan, selected, { workspace, stale: { kind: "leave" } });
  const whole = set.length === 0 ? request : await readRequest(repository, pipeline, { ...asked, set: [] });
  return whole && { plan, results, workspace, others: await otherProfiles(whole, workspace) };
}

/** The other profiles of a pipeline: a record is found by its key, so they may need the same weights. */
async function otherProfiles(
  { plan, inProfile }: Pick<Request, "plan" | "inProfile">,
  { repository, state }: Workspace,
): Promise<OtherProfile[]> {
  const others: OtherProfile[] = [];
  for (const profile of plan.profiles.filter((name) => name !== plan.profile)) {
    const planned = inProfile(profile);
    if (!planned) {
      others.push({ profile });
      continue;
    }
    const workspace = openWorkspace({ repository, root: state.root, pipeline: plan.pipeline, profile });
    const { results } = await previewPlan(planned.plan, planned.selected, {
      workspace,
      stale: { kind: "leave" },
    });
    others.push({ profile, planned: { plan: planned.plan, results } });
  }
  return others;
}

/**
 * At the end of a run whose profile says `retain: { thin: scored }`: what the run finished may go. `isNarrowed`: the run
 * has --set or --only, so its plan lacks stages that may need the weights.
 */
export async function thinAfterRun(
  { request, results, workspace }: { request: Request } & Omit<Planned, "plan">,
  { json, isNarrowed, say }: { json: boolean; isNarrowed: boolean; say: (line: string) => void },
): Promise<void> {
  const { plan } = request;
  const { weights } = plan.retain satisfies RetainSpec;
  const held = results.flatMap((result) => result?.record ?? []);
  if (held.length === 0) return;
  const busy = liveRun(workspace.state);
  if (busy !== undefined || isNarrowed) {
    const why = isNarrowed
      ? "a run with --set or --only does not make all that reads them"
      : `the run ${busy} may need them`;
    say(`no weights were removed: ${why}`);
    return;
  }
  const made = { plan, results, others: await otherProfiles(request, workspace) };
  const planned = held.map((one) => ({ held: one, may: mayGo(one, weights, made), plan, results }));
  const report = thinAttempts(planned, workspace, {
    why: `retain of profile ${plan.profile}`,
    dryRun: false,
  });
  const [changed, same] = partition(
    report.attempts,
    ({ files, damaged }) => files.length + damaged.length > 0,
  );
  if (changed.length > 0) {
    if (json) for (const line of thinJson({ ...report, attempts: changed }, false)) printJson(line);
    else for (const line of thinText({ ...report, attempts: changed }, false)) say(oneLine(line));
  }
  const kept = same.filter(({ may }) => may.refused.length > 0);
  const first = kept[0]?.may.refused[0];
  if (first)
    say(
      oneLine(
        `weights of ${counted(kept.length, "attempt")} stay, e.g. ${kept[0]!.held.record.slot.stage}, its ${first.output}: ${first.why}`,
      ),
    );
}

function partition<T>(all: readonly T[], isFirst: (one: T) => boolean): [T[], T[]] {
  return [all.filter(isFirst), all.filter((one) => !isFirst(one))];
}
