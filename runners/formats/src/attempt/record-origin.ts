// Where an imported record came from, in attempts/origins/DIGEST.json. The record itself is immutable and holds nothing
// about the machine that imported it. A record without this file was made here.

import { fileFormat, sha256, type TypeOf, text, textOrNull, wholeObject } from "../schema.ts";

/** What manifests and reports keep of it: no clock, and nothing that differs between machines with the same list. */
export const memberOrigin = {
  ...wholeObject({
    kind: { const: "imported" },
    signedBy: { ...textOrNull, description: "the signer of its archive; null: unsigned" },
  }),
  description: "of an attempt that another machine made; absent: made on this machine",
} as const;
export type MemberOrigin = TypeOf<typeof memberOrigin>;

/** The archive that something was imported from. */
export const archiveSource = {
  archive: { ...sha256, description: "digest of the archive that held it" },
  signedBy: {
    ...textOrNull,
    description: "the archive's signer as the operator's list names it; null: unsigned",
  },
  signingKey: { ...textOrNull, description: "fingerprint of the signer's key; null: unsigned" },
} as const;

export const recordOrigin = fileFormat(
  "mlrb origin of an imported attempt record",
  wholeObject({
    formatVersion: { const: 1 },
    importedAt: text,
    ...archiveSource,
  }),
);
export type RecordOrigin = TypeOf<typeof recordOrigin>;
