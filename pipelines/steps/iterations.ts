// Finds the experiments and failures of an attempt, and counts them.
import { researchOfAttempt } from "@mlrb/agents/record/research-of-attempt";
import { publicNames as names } from "@mlrb/formats/declared/task";
import { mustFollow } from "@mlrb/formats/read-format";
import { openObject, orNull, text } from "@mlrb/formats/schema";
import { writeJson } from "@mlrb/kit/json-file";
import { stage } from "@mlrb/kit/stage";

const { inputs, outputs, params } = stage();
const { publicNames, data } = mustFollow(
  openObject({ publicNames: orNull(names), data: text }, ["publicNames", "data"]),
  { ...params },
  "params of the pipeline's iterations stage",
);

writeJson(
  outputs.iterations!,
  await researchOfAttempt(
    {
      trajectory: inputs.trajectory!,
      ledger: inputs.ledger!,
      snapshots: inputs.snapshots!,
      admission: inputs.admission!,
    },
    { publicNames: publicNames?.[data] ?? [] },
  ),
);
