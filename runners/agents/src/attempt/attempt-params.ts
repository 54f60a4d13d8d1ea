// The params of the stage that makes an attempt: its agent's preset, and the prompt. The runner has checked the
// preset. A step run by hand gets what a person typed.
import { agentPreset, attemptFields } from "@mlrb/formats/declared/agent-preset";
import { mustFollow } from "@mlrb/formats/read-format";
import { openObject, type TypeOf, text } from "@mlrb/formats/schema";
import type { Json } from "@mlrb/kit/stage";

const { formatVersion: _, ...fields } = agentPreset.properties;
const format = openObject({ ...fields, prompt: text }, ["kind", "prompt"]);

export type AttemptParams = TypeOf<typeof format>;

/** Throws with the name of a wrong field. */
export function attemptParams(params: Record<string, Json>): AttemptParams {
  const known = mustFollow(format, presetFields(params), "the agent's preset, in the stage's params");
  if ((known.kind === "command" || known.kind === "person") && known.command === undefined)
    throw new Error(`an agent of kind ${known.kind} needs \`command: [program, argument …]\` in its preset`);
  return known;
}

/** A field that the preset lacks comes as null, and is dropped. */
export function presetFields(params: Record<string, Json>): Record<string, Json> {
  return Object.fromEntries(Object.entries(attemptFields(params)).filter(([, value]) => value !== null));
}
