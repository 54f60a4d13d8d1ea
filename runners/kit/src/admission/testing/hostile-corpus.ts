// The corpus of hostile submissions, written by code: no large file is in the repository. Tests of admission use
// it, and those of the load check use the cases that explode on load.
import type { HostileCase } from "./hostile-case.ts";
import { hostileConfigs } from "./hostile-configs.ts";
import { hostileFiles } from "./hostile-files.ts";
import { hostileJson } from "./hostile-json.ts";
import { hostileTokenizers } from "./hostile-tokenizers.ts";
import { hostileWeights } from "./hostile-weights.ts";

export const hostileCorpus: HostileCase[] = [
  ...hostileJson,
  ...hostileFiles,
  ...hostileWeights,
  ...hostileTokenizers,
  ...hostileConfigs,
];
