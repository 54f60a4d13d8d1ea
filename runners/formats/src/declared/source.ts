// The format of sources, sources/NAME.yaml: a repository of a hub from which official data or a published model
// comes.

import * as t from "../schema.ts";

export const sourceManifest = t.fileFormat(
  "mlrb source",
  t.closedObject(
    {
      formatVersion: t.formatVersionOne,
      name: t.about(t.name, "the name of its file"),
      title: t.title,
      repository: {
        type: "string",
        pattern: "^[A-Za-z0-9][\\w.-]*/[A-Za-z0-9][\\w.-]*$",
        description: "a repository of a hub",
        patternErrorMessage: "write owner/name, as in the hub's address",
      },
      type: t.about(t.oneOf("dataset", "model"), "the kind of repository"),
      use: t.about(
        t.oneOf("data", "evaluation", "base-model", "reference-model"),
        "evaluation: scores are taken on it, so agents never see it",
      ),
      revision: {
        type: "string",
        pattern: "^[0-9a-f]{7,40}$",
        description: "a commit; by default the newest is locked",
        patternErrorMessage: "write its first 7 to 40 hexadecimal digits; branches and tags move",
      },
      files: t.about(
        { ...t.listOf(t.text), minItems: 1, uniqueItems: true },
        "patterns of the files to lock; by default all",
      ),
      serves: t.about(
        { ...t.listOf(t.text), minItems: 1, uniqueItems: true },
        "evaluation: patterns of its files that sealed attempts may download, i.e. splits that are not scored; by default none",
      ),
      seen: t.about(
        t.partialObject({
          bytes: t.about(t.count, "approximate size of all its files"),
          licence: t.about(t.text, "its licence, as its card names it"),
          from: t.about(t.text, "where this was read"),
        }),
        "what is believed of it until it is locked",
      ),
    },
    ["formatVersion", "name", "title", "repository", "type", "use"],
  ),
);

export type SourceManifest = t.TypeOf<typeof sourceManifest>;
