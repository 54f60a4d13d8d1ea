// Where an imported record came from, in attempts/origins/DIGEST.json. The record itself is immutable and holds nothing
// about the machine that imported it. A record without this file was made here.

import { fileFormat, openObject, sha256, type TypeOf, text, textOrNull } from "../schema.ts";

export const recordOrigin = fileFormat(
  "mlrb origin of an imported attempt record",
  openObject(
    {
      formatVersion: { const: 1 },
      importedAt: text,
      archive: { ...sha256, description: "digest of the archive that held the record" },
      signedBy: {
        ...textOrNull,
        description: "the archive's signer as the operator's list names it; null: unsigned",
      },
      signingKey: { ...textOrNull, description: "fingerprint of the signer's key; null: unsigned" },
    },
    ["formatVersion", "importedAt", "archive", "signedBy", "signingKey"],
  ),
);
export type RecordOrigin = TypeOf<typeof recordOrigin>;
