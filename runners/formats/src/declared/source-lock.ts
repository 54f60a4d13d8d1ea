// The format of sources.lock.yaml: what `pipeline sources lock` found on the hub for each source.

import {
  count,
  fileFormat,
  kindsOf,
  listOf,
  oneOf,
  sha256,
  type TypeOf,
  tableOf,
  text,
  textOrNull,
  wholeObject,
} from "../schema.ts";

/** A path inside a repository. It becomes a path on this machine, so it stays inside its folder. */
export const pathInside = {
  type: "string",
  pattern:
    "^(?!/)(?!(?:.*/)?\\.{1,2}(?:/|$))(?!.*//)[^\\\\\\u0000-\\u001f\\u007f]*[^\\\\\\u0000-\\u001f\\u007f/]$",
  maxLength: 500,
} as const;

const lockedFile = wholeObject({ path: pathInside, size: count, sha256 });

/** A source at one commit. */
export const lockedSource = wholeObject({
  repository: text,
  type: oneOf("dataset", "model"),
  revision: { type: "string", pattern: "^[0-9a-f]{40}$", description: "the commit" },
  licence: { ...textOrNull, description: "as the card of the repository names it; null: it names none" },
  gated: {
    ...oneOf("none", "auto", "manual"),
    description: "whether the hub asks for consent, and who grants access",
  },
  patterns: { ...listOf(text), description: "the patterns by which files were chosen" },
  files: { ...listOf(lockedFile), minItems: 1, description: "sorted by path" },
});

const unresolved = wholeObject({ kind: { const: "unresolved" } });
const resolved = {
  ...lockedSource,
  properties: { kind: { const: "resolved" }, ...lockedSource.properties },
} as const;

export const sourceLock = fileFormat(
  "mlrb locked sources",
  wholeObject({
    formatVersion: { const: 1 },
    sources: { ...tableOf(kindsOf(unresolved, resolved)), description: "by the name of the source" },
  }),
);

export type LockedFile = TypeOf<typeof lockedFile>;
export type LockedSource = TypeOf<typeof lockedSource>;
export type SourceLock = TypeOf<typeof sourceLock>;
