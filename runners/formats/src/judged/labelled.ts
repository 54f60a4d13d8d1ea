// pipelines/judges/labelled/NAME.json: short trajectories with the right answers to a rubric's questions. A judge is
// measured on them.
import * as t from "../schema.ts";
import { extract, extractEvent } from "./extract.ts";

const labelled = t.closedObject(
  {
    id: t.about(t.text, "its name in tables; of a file of others the file's name"),
    heldOut: t.about(t.flag, "whether the rubric's examples were written without it"),
    events: t.listOf(t.wholeObject({ kind: extractEvent.properties.kind, text: t.text })),
    leftOut: t.about(extract.properties.leftOut, "absent: nothing"),
    labels: t.about(t.tableOf(t.text), "the right answer by question; with parts: QUESTION.PART"),
    nearMiss: t.about(t.list, "questions of which the answer is no although something looks like a yes"),
  },
  ["id", "heldOut", "events", "labels"],
);
export type LabelledTrajectory = t.TypeOf<typeof labelled>;

export const labelledFile = t.fileFormat(
  "mlrb labelled trajectories",
  t.closedObject(
    {
      formatVersion: t.formatVersionOne,
      rubric: t.name,
      labelledBy: t.about(t.text, "who wrote and labelled them, and how"),
      trajectories: t.listOf(labelled),
    },
    ["formatVersion", "rubric", "labelledBy", "trajectories"],
  ),
);
export type LabelledFile = t.TypeOf<typeof labelledFile>;

/** labels.json beside trajectories of others: the right answers, by the name of the file. */
export const foreignLabels = t.fileFormat(
  "mlrb labels of trajectories",
  t.closedObject(
    {
      formatVersion: t.formatVersionOne,
      rubric: t.name,
      labelledBy: t.about(t.text, "who labelled them, and how"),
      labels: t.tableOf(labelled.properties.labels),
    },
    ["formatVersion", "rubric", "labelledBy", "labels"],
  ),
);
