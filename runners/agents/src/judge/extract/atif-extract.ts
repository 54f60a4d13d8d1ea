// A trajectory of another tool as an extract: Harbor's ATIF 1.x, with its subagents after the main agent
// (https://github.com/harbor-framework/harbor/blob/main/rfcs/0001-trajectory-format.md). Without times and metrics.
import type { Extract } from "@mlrb/formats/judged/extract";
import type { Json } from "@mlrb/formats/schema";
import { at, listAt, textAt } from "../../model/json-text.ts";
import { type ExtractLimits, extractDraft } from "./extract-draft.ts";
import { modelNames, nameHider } from "./hidden-names.ts";
import { kindBy, saidParts } from "./said-parts.ts";

/** A text says why the file cannot be read. The first step of a user is the prompt. */
export function atifExtract(log: Json | undefined, limits: ExtractLimits): Extract | string {
  if (!/^ATIF-v1\.\d+$/.test(textAt(log, "schema_version")))
    return "it is neither a trajectory of ATIF 1.x nor a log of Inspect, as JSON";
  const steps = [log, ...listAt(log, "subagent_trajectories")].flatMap((one) => listAt(one, "steps"));
  if (steps.length === 0) return "it has no steps, or nests too deep";
  const ids = [textAt(log, "agent", "model_name"), ...steps.map((one) => textAt(one, "model_name"))];
  const names = { "the agent": [textAt(log, "agent", "name")], "the agent's model": ids.flatMap(modelNames) };
  const draft = extractDraft(limits, nameHider(names, ""));
  const asked = steps.find((step) => textAt(step, "source") === "user");
  for (const step of steps)
    for (const field of ["reasoning_content", "message", "tool_calls", "observation"])
      for (const [kind, text] of saidParts(at(step, field), kindBy(field)))
        draft.add(step === asked ? "prompt" : kind, `${textAt(step, "source")}:\n${text}`);
  return draft.extract();
}
