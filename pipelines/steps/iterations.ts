// Finds the experiments and failures of an attempt, and counts them.
import { researchOfAttempt } from "@mlrb/agents/record/research-of-attempt";
import { writeJson } from "@mlrb/kit/json-file";
import { stage } from "@mlrb/kit/stage";

const { inputs, outputs } = stage();

writeJson(
  outputs.iterations!,
  await researchOfAttempt({
    trajectory: inputs.trajectory!,
    ledger: inputs.ledger!,
    snapshots: inputs.snapshots!,
    admission: inputs.admission!,
  }),
);
