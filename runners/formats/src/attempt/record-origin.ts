// Where an imported record came from, in attempts/origins/DIGEST.json. The record itself is immutable and holds
// nothing about the machine that imported it. A record without this file was made here.

import * as t from "../schema.ts";

/** What manifests and reports keep of it: no clock, and nothing that differs between machines with the same list. */
export const memberOrigin = t.about(
  t.variant("imported", { signedBy: t.about(t.textOrNull, "the signer of its archive; null: unsigned") }),
  "of an attempt that another machine made; absent: made on this machine",
);
export type MemberOrigin = t.TypeOf<typeof memberOrigin>;

/** The archive that something was imported from. */
export const archiveSource = {
  archive: t.about(t.sha256, "digest of the archive that held it"),
  signedBy: t.about(t.textOrNull, "the archive's signer as the operator's list names it; null: unsigned"),
  signingKey: t.about(t.textOrNull, "fingerprint of the signer's key; null: unsigned"),
} as const;

export const recordOrigin = t.wholeFile("mlrb origin of an imported attempt record", 1, {
  importedAt: t.text,
  ...archiveSource,
});
export type RecordOrigin = t.TypeOf<typeof recordOrigin>;
