// members.json of a corpus: the cheats and honest models on which `task check` measures rules (ADR 49).
import { anyText, fileFormat, flag, listOf, oneOf, type TypeOf, text, wholeObject } from "../schema.ts";

const corpusMember = wholeObject({
  name: { ...text, description: "of its folder, next to this file" },
  kind: oneOf("honest", "near-miss", "cheat"),
  family: { ...text, description: "the model type" },
  tool: { ...text, description: "what wrote the folder" },
  rules: {
    ...listOf(text),
    description: "methods of the rules that it keeps; of a cheat, those that it breaks",
  },
  about: { ...anyText, description: "what a near-miss or a cheat does" },
  skill: { ...oneOf("", "simple", "skilled", "expert"), description: "of a cheat" },
  heldOut: { ...flag, description: "no threshold was set with a model of its type" },
});
export type CorpusMember = TypeOf<typeof corpusMember>;

export const corpus = fileFormat(
  "mlrb corpus",
  wholeObject({ formatVersion: { const: 1 }, members: listOf(corpusMember) }),
);
