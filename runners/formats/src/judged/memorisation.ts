// memorisation.json: the bits that models need for the private documents of a task and for matched public ones. One file
// holds a submission, another the task's reference models. Only the report reads them and compares them.
import {
  amount,
  anyText,
  count,
  fileFormat,
  flag,
  kindsWith,
  listOf,
  oneOf,
  type TypeOf,
  text,
  textOrNull,
  wholeObject,
} from "../schema.ts";

const memorisationDocument = wholeObject({
  id: { ...text, description: "the file and row that it is from" },
  side: { ...oneOf("private", "public"), description: "public: matched with the private ones" },
  source: { ...text, description: "the file of public data with documents of this kind" },
  bits: { ...amount, description: "-log2 p of the document, as bits per byte defines it" },
  bytes: count,
});
export type MemorisationDocument = TypeOf<typeof memorisationDocument>;

const memorisationModel = kindsWith(
  { name: text },
  wholeObject({ kind: { const: "measured" }, documents: listOf(memorisationDocument) }),
  wholeObject({ kind: { const: "rejected" }, reason: anyText }),
);
export type MemorisationModel = TypeOf<typeof memorisationModel>;

export const memorisation = fileFormat(
  "mlrb memorisation",
  wholeObject({
    formatVersion: { const: 1 },
    privateDocuments: {
      ...flag,
      description: "whether the task's private data has documents",
    },
    reference: {
      ...textOrNull,
      description: "the model that submissions are compared with; null in the file of a submission",
    },
    models: { ...listOf(memorisationModel), description: "empty without private documents" },
  }),
);
export type MemorisationFile = TypeOf<typeof memorisation>;
