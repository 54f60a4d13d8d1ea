// The format of sources, sources/NAME.yaml: a repository of a hub from which official data or a published model comes.

import {
  closedObject,
  count,
  fileFormat,
  formatVersionOne,
  listOf,
  name,
  oneOf,
  partialObject,
  type TypeOf,
  text,
  title,
} from "../schema.ts";

export const sourceManifest = fileFormat(
  "mlrb source",
  closedObject(
    {
      formatVersion: formatVersionOne,
      name: { ...name, description: "the name of its file" },
      title,
      repository: {
        type: "string",
        pattern: "^[A-Za-z0-9][\\w.-]*/[A-Za-z0-9][\\w.-]*$",
        description: "a repository of a hub",
        patternErrorMessage: "write owner/name, as in the hub's address",
      },
      type: { ...oneOf("dataset", "model"), description: "the kind of repository" },
      use: {
        ...oneOf("data", "evaluation", "base-model", "reference-model"),
        description: "evaluation: scores are taken on it, so agents never see it",
      },
      revision: {
        type: "string",
        pattern: "^[0-9a-f]{7,40}$",
        description: "a commit; by default the newest is locked",
        patternErrorMessage: "write its first 7 to 40 hexadecimal digits; branches and tags move",
      },
      files: {
        ...listOf(text),
        minItems: 1,
        uniqueItems: true,
        description: "patterns of the files to lock; by default all",
      },
      serves: {
        ...listOf(text),
        minItems: 1,
        uniqueItems: true,
        description:
          "evaluation: patterns of its files that sealed attempts may download, i.e. splits that are not scored; by default none",
      },
      seen: {
        ...partialObject({
          bytes: { ...count, description: "approximate size of all its files" },
          licence: { ...text, description: "its licence, as its card names it" },
          from: { ...text, description: "where this was read" },
        }),
        description: "what is believed of it until it is locked",
      },
    },
    ["formatVersion", "name", "title", "repository", "type", "use"],
  ),
);

export type SourceManifest = TypeOf<typeof sourceManifest>;
