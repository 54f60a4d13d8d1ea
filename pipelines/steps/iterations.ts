// Finds the experiments and failures of an attempt, and counts them.
import { researchOfAttempt } from "@mlrb/agents/record/research-of-attempt";
import { scorerManifest } from "@mlrb/formats/declared/scorer";
import { mustFollow } from "@mlrb/formats/read-format";
import { list, openObject, orNull, tableOf } from "@mlrb/formats/schema";
import { writeJson } from "@mlrb/kit/json-file";
import { stage } from "@mlrb/kit/stage";

const { inputs, outputs, params } = stage();
const { scorers, publicNames } = mustFollow(
  openObject({ scorers: list, publicNames: tableOf(orNull(scorerManifest.properties.publicNames)) }, [
    "scorers",
    "publicNames",
  ]),
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
    { publicNames: scorers.flatMap((scorer) => publicNames[scorer] ?? []) },
  ),
);
