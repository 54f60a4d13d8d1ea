// Why a stage instance runs or is reused. The deciding function returns these values, and the progress line,
// `plan`, `explain` and the journal show them, so that all agree.
import type { KeyParts } from "@mlrb/formats/stage/action";
import { canonicalJson } from "@mlrb/kit/json-file";

export type Reason =
  | { kind: "unchanged" }
  | { kind: "not-needed" }
  | { kind: "same-action"; stage: string }
  | { kind: "first-run" }
  | { kind: "code-changed"; file: string }
  | { kind: "file-changed"; file: string }
  | { kind: "input-changed"; input: string; stage?: string }
  | { kind: "params-changed"; names: string[] }
  | { kind: "outputs-changed" }
  | { kind: "env-changed"; names: string[] }
  | { kind: "budget-changed" }
  | { kind: "environment-changed" }
  | { kind: "environment-missing" }
  | { kind: "host-changed" }
  | { kind: "image-changed" }
  | { kind: "network-changed" }
  | { kind: "service-changed"; names: string[] }
  /** It is a service, and an instance that runs uses it. */
  | { kind: "used" }
  | { kind: "output-missing" }
  | { kind: "never-succeeded" }
  /** An attempt in this slot ended without a record, for `cause`; `folder` holds its work. A new one costs again. */
  | { kind: "lost"; since: string; cause: string; folder: string }
  /** An attempt that still runs, or whose supervisor died and that continues; it is not started again. */
  | { kind: "goes-on"; since: string; resumes?: true }
  /** The record of the same slot was made from other inputs, listed in `changed`. */
  | { kind: "stale"; record: string; changed: Reason[] }
  | { kind: "stale-accepted"; record: string; why: string }
  /** Its record was made on another machine. `signedBy`: the signer of its archive; null: unsigned. */
  | { kind: "imported"; signedBy: string | null }
  /** Its result was taken from the remote cache in this run. `signedBy`: who vouches for it. */
  | { kind: "remote"; signedBy: string }
  /** Imported records compete for this attempt; they are not used until a person decides. */
  | { kind: "undecided"; records: string[] }
  /** The weights of the attempt `record`, which it would read, were removed (`attempts thin`). */
  | { kind: "thinned"; record: string; input: string }
  /** Its inputs cannot be read or bundled: it fails before it starts. */
  | { kind: "cannot-start"; detail: string }
  /** In a plan only: an attempt that it reads is stale and is not run again. */
  | { kind: "upstream-stale"; stage: string }
  /** In a plan only: one of its inputs runs first, so its key is unknown. */
  | { kind: "upstream-runs"; stage: string };

/** The differences between the key parts of the last success and the current ones. `stageOf` names an input's producer. */
export function changes(
  last: KeyParts,
  now: KeyParts,
  stageOf: (input: string) => string | undefined,
): Reason[] {
  const reasons: Reason[] = [];
  if (!same(last.run, now.run)) {
    reasons.push({ kind: "code-changed", file: now.run.kind === "command" ? "command" : now.run.file });
  }
  for (const file of differing(last.code, now.code)) reasons.push({ kind: "code-changed", file });
  for (const file of differing(last.files, now.files)) reasons.push({ kind: "file-changed", file });
  for (const input of differing(last.inputs, now.inputs)) {
    const stage = stageOf(input);
    reasons.push({ kind: "input-changed", input, ...(stage !== undefined && { stage }) });
  }
  const params = [...differing(last.params, now.params), ...differing(last.axes, now.axes)];
  if (params.length > 0) reasons.push({ kind: "params-changed", names: params });
  if (!same(last.outputs, now.outputs)) reasons.push({ kind: "outputs-changed" });
  const env = differing({ ...last.agentEnv, ...last.env }, { ...now.agentEnv, ...now.env });
  if (env.length > 0) reasons.push({ kind: "env-changed", names: env });
  if (!same(last.budget, now.budget)) reasons.push({ kind: "budget-changed" });
  if (last.environment !== now.environment) reasons.push({ kind: "environment-changed" });
  if (!same(last.host, now.host)) reasons.push({ kind: "host-changed" });
  if (last.image !== now.image) reasons.push({ kind: "image-changed" });
  if (last.network !== now.network) reasons.push({ kind: "network-changed" });
  const services = differing(last.services ?? {}, now.services ?? {});
  if (services.length > 0) reasons.push({ kind: "service-changed", names: services });
  return reasons;
}

/** A reason in words, for people. */
export function reasonWords(reason: Reason): string {
  const words = wordsOf[reason.kind];
  return typeof words === "string" ? words : (words as (reason: Reason) => string)(reason);
}

const wordsOf: { [Kind in Reason["kind"]]: string | ((reason: Reason & { kind: Kind }) => string) } = {
  unchanged: "nothing it depends on changed",
  "not-needed": "nothing that runs needs it",
  "same-action": ({ stage }) => `the same action as ${stage}`,
  "first-run": "first run",
  "code-changed": ({ file }) => `code changed: ${file}`,
  "file-changed": ({ file }) => `file changed: ${file}`,
  "input-changed": ({ input, stage }) => `input changed: ${input}${stage ? ` of ${stage}` : ""}`,
  "params-changed": ({ names }) => `parameters changed: ${names.join(", ")}`,
  "outputs-changed": "its declared outputs changed",
  "env-changed": ({ names }) => `variables changed: ${names.join(", ")}`,
  "budget-changed": "budget changed",
  "environment-changed": "environment changed",
  "environment-missing": "environment not built here",
  "host-changed": "another machine",
  "image-changed": "another image or sandbox",
  "network-changed": "its programs reach another network",
  "service-changed": ({ names }) => `service changed: ${names.join(", ")}`,
  used: "a stage that runs uses it",
  "output-missing": "its result is no longer in the store",
  "never-succeeded": "it has not succeeded yet",
  lost: ({ since, cause, folder }) =>
    `lost: the attempt started ${since} ended without a record (${cause}); it is in ${folder}`,
  "goes-on": ({ since, resumes }) =>
    resumes
      ? `continues: started ${since}, its supervisor or host died`
      : `running since ${since}, what started it has ended`,
  stale: ({ changed }) => `stale: ${changed.map(reasonWords).join("; ")}`,
  "stale-accepted": ({ why }) => `stale, accepted: ${why}`,
  imported: (reason) => `imported, ${originText(reason)}`,
  remote: ({ signedBy }) => `taken from the remote cache, signed by ${signedBy}`,
  undecided: ({ records }) => `${undecidedText(records)}; \`pnpm pipeline attempts use DIGEST\` decides`,
  thinned: ({ record }) =>
    `thinned: the weights of attempt ${record.slice(0, 12)} were removed, so it cannot run again`,
  "cannot-start": ({ detail }) => `it cannot start: ${detail.replaceAll("\n", "; ")}`,
  "upstream-stale": ({ stage }) => `${stage} is stale`,
  "upstream-runs": ({ stage }) => `${stage} runs first`,
};

/** Whether the archive of an imported record was signed, in words. */
export function originText({ signedBy }: { signedBy: string | null }): string {
  return signedBy === null ? "unsigned" : `signed by ${signedBy}`;
}

function undecidedText(records: string[]): string {
  const names = records.slice(0, 3).map((record) => record.slice(0, 12));
  const more = records.length > 3 ? ` and ${records.length - 3} more` : "";
  return records.length === 1
    ? `the imported record ${names[0]} competes and is not used`
    : `the imported records ${names.join(", ")}${more} compete and are not used`;
}

function differing(a: Record<string, unknown>, b: Record<string, unknown>): string[] {
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
  return names.filter((name) => !same(a[name], b[name]));
}

function same(a: unknown, b: unknown): boolean {
  return a === b || (a !== undefined && b !== undefined && canonicalJson(a) === canonicalJson(b));
}
