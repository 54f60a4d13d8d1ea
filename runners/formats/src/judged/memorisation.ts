// memorisation.json: the bits that models need for the private documents of a task and for matched public ones.
// One file holds a submission, another the task's reference models. Only the report reads them and compares them.
import * as t from "../schema.ts";

const memorisationDocument = t.wholeObject({
  id: t.about(t.text, "the file and row that it is from"),
  side: t.about(t.oneOf("private", "public"), "public: matched with the private ones"),
  source: t.about(t.text, "the file of public data with documents of this kind"),
  bits: t.about(t.amount, "-log2 p of the document, as bits per byte defines it"),
  bytes: t.count,
});
export type MemorisationDocument = t.TypeOf<typeof memorisationDocument>;

const memorisationModel = t.kindsWith(
  { name: t.text },
  t.variant("measured", { documents: t.listOf(memorisationDocument) }),
  t.variant("rejected", { reason: t.anyText }),
);
export type MemorisationModel = t.TypeOf<typeof memorisationModel>;

export const memorisation = t.wholeFile("mlrb memorisation", 1, {
  privateDocuments: t.about(t.flag, "whether the task's private data has documents"),
  reference: t.about(
    t.textOrNull,
    "the model that submissions are compared with; null in the file of a submission",
  ),
  models: t.about(t.listOf(memorisationModel), "empty without private documents"),
});
export type MemorisationFile = t.TypeOf<typeof memorisation>;
