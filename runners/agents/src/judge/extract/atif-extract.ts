// A trajectory of another tool as an extract: Harbor's ATIF 1.x, with its subagents after the main agent
// (https://github.com/harbor-framework/harbor/blob/main/rfcs/0001-trajectory-format.md). Without times and metrics.
import type { Extract } from "@mlrb/formats/judged/extract";
import type { Json } from "@mlrb/formats/schema";
import { at, listAt, textAt } from "../../model/json-text.ts";
import { type ExtractLimits, extractDraft } from "./extract-draft.ts";
import { anyModel, modelNames, nameHider, seriesNames } from "./hidden-names.ts";
import { kindBy, otherFields, saidParts } from "./said-parts.ts";

const fields = ["reasoning_content", "message", "tool_calls", "observation"];
const rootFields = ["schema_version", "agent", "steps", "subagent_trajectories"];

/** A text says why the file cannot be read. The first step of a user is the prompt. */
export function atifExtract(log: Json | undefined, limits: ExtractLimits): Extract | string {
  if (!/^ATIF-v1\.\d+$/.test(textAt(log, "schema_version")))
    return "it is neither a trajectory of ATIF 1.x nor a log of Inspect, as JSON";
  const all: Json[] = [log ?? null];
  for (const one of all) all.push(...listAt(one, "subagent_trajectories"));
  const steps = all.flatMap((one) => listAt(one, "steps"));
  if (steps.length === 0) return "it has no steps, or nests too deep";
  const agents = all.map((one) => at(one, "agent"));
  const ids = [...agents, ...steps].map((one) => textAt(one, "model_name"));
  const names = {
    "the agent": agents.map((one) => textAt(one, "name")),
    "the agent's model": ids.flatMap(modelNames),
    [anyModel]: ids.flatMap(seriesNames),
  };
  const draft = extractDraft(limits, nameHider(names, ""));
  const asked = steps.find((step) => textAt(step, "source") === "user");
  for (const step of steps) {
    const parts = fields.flatMap((field) => saidParts(at(step, field), kindBy(field)));
    for (const [kind, text] of [...parts, ...otherFields(step, fields, "message")])
      draft.add(step === asked ? "prompt" : kind, `${textAt(step, "source")}:\n${text}`);
  }
  for (const [kind, text] of all.flatMap((one) => otherFields(one, rootFields, "message")))
    draft.add(kind, `about the trajectory:\n${text}`);
  for (const _ of elsewhere(all, steps)) draft.leaveOut("a trajectory in another file");
  return draft.extract();
}

/** References to what no trajectory of the file holds. */
function elsewhere(all: Json[], steps: Json[]): Json[] {
  const subagents = all.slice(1);
  const known = new Set(
    subagents.flatMap((one) => [textAt(one, "trajectory_id"), textAt(one, "session_id")]),
  );
  const results = steps.flatMap((one) => listAt(one, "observation", "results"));
  const refs = results.flatMap((one) => listAt(one, "subagent_trajectory_ref"));
  // several subagents may have one session
  const isKnown = (ref: Json) => known.has(textAt(ref, "trajectory_id") || textAt(ref, "session_id"));
  const continued = all.flatMap((one) => at(one, "continued_trajectory_ref") ?? []);
  return [...refs.filter((ref) => !isKnown(ref)), ...continued];
}
