// The format of sources.lock.yaml: what `pipeline sources lock` found on the hub for each source.

import * as t from "../schema.ts";

/** A path inside a repository. It becomes a path on this machine, so it stays inside its folder. */
export const pathInside = {
  type: "string",
  pattern:
    "^(?!/)(?!(?:.*/)?\\.{1,2}(?:/|$))(?!.*//)[^\\\\\\u0000-\\u001f\\u007f]*[^\\\\\\u0000-\\u001f\\u007f/]$",
  maxLength: 500,
} as const;

const lockedFile = t.wholeObject({ path: pathInside, size: t.count, sha256: t.sha256 });

/** A source at one commit. */
export const lockedSource = t.wholeObject({
  repository: t.text,
  type: t.oneOf("dataset", "model"),
  revision: t.about({ type: "string", pattern: "^[0-9a-f]{40}$" }, "the commit"),
  licence: t.about(t.textOrNull, "as the card of the repository names it; null: it names none"),
  gated: t.about(
    t.oneOf("none", "auto", "manual"),
    "whether the hub asks for consent, and who grants access",
  ),
  patterns: t.about(t.listOf(t.text), "the patterns by which files were chosen"),
  files: t.about({ ...t.listOf(lockedFile), minItems: 1 }, "sorted by path"),
});

const unresolved = t.variant("unresolved");
const resolved = {
  ...lockedSource,
  properties: { kind: { const: "resolved" }, ...lockedSource.properties },
} as const;

export const sourceLock = t.wholeFile("mlrb locked sources", 1, {
  sources: t.about(t.tableOf(t.kindsOf(unresolved, resolved)), "by the name of the source"),
});

export type LockedFile = t.TypeOf<typeof lockedFile>;
export type LockedSource = t.TypeOf<typeof lockedSource>;
export type SourceLock = t.TypeOf<typeof sourceLock>;
