// Trajectories of other tools as extracts: Harbor's ATIF 1.x with its subagents, and the samples of a log of Inspect
// AI as JSON (`inspect log dump`).
import type { Extract } from "@mlrb/formats/judged/extract";
import { at, listAt, parsedJson, textAt } from "../../model/json-text.ts";
import { type ExtractLimits, extractDraft } from "./extract-draft.ts";
import { modelNames, nameHider } from "./hidden-names.ts";
import { saidParts } from "./said-parts.ts";

const shown = ["content", "reasoning", "error", "message", "reasoning_content", "tool_calls", "observation"];

/** One extract for each attempt; a text says why the file cannot be read. */
export function foreignExtracts(file: string, limits: ExtractLimits): Extract[] | string {
  const log = parsedJson(file);
  const isAtif = /^ATIF-v1\.\d+$/.test(textAt(log, "schema_version"));
  if (!isAtif && !(at(log, "version") === 2 && at(log, "eval") !== undefined))
    return "it is no JSON of ATIF 1.x and no log of Inspect AI of version 2";
  const attempts = isAtif
    ? [[log, ...listAt(log, "subagent_trajectories")].flatMap((one) => listAt(one, "steps"))]
    : listAt(log, "samples").map((sample) => listAt(sample, "messages"));
  if (attempts.length === 0 || attempts.some((said) => said.length === 0))
    return "an attempt in it says nothing";
  const agents = [textAt(log, "agent", "name"), textAt(log, "eval", "solver")];
  const models = [textAt(log, "agent", "model_name"), textAt(log, "eval", "model")];
  return attempts.map((said, attempt) => {
    const answering = said.map((one) => textAt(one, isAtif ? "model_name" : "model"));
    const ids = [...new Set([...models, ...answering])].flatMap(modelNames);
    const draft = extractDraft(limits, nameHider({ "the agent": agents, "the agent's model": ids }, ""));
    let asked = false;
    for (const one of said) {
      const by = textAt(one, isAtif ? "source" : "role");
      const fields = Object.fromEntries(shown.map((field) => [field, at(one, field) ?? null]));
      for (const [kind, text] of saidParts({ type: by, ...fields })) {
        const whole = text.replace(
          /attachment:\/\/(\w+)/g,
          (as, id) => textAt(log, "samples", attempt, "attachments", id) || as,
        );
        draft.add(by === "user" && !asked ? "prompt" : kind, `${by}:\n${whole}`);
        asked ||= by === "user";
      }
    }
    return draft.extract();
  });
}
