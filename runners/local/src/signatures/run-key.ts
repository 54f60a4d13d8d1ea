// A key of one run, which signs many small things. The user's SSH key signs the public half once, so ssh-keygen
// asks for a passphrase at most once in a run, and a reader starts ssh-keygen once for each run whose signatures
// it meets: three processes for every entry of a cache would take longer than many stages. The private half never
// leaves the memory of its process.

import {
  createPublicKey,
  generateKeyPairSync,
  hash,
  type KeyObject,
  sign as signBytes,
  verify as verifyBytes,
} from "node:crypto";
import { type Problem, refused, signDigest, type Verification, verifyDigest } from "./ssh-signature.ts";

type RunSignature = {
  /** The run's public key: DER, in base64. */
  runKey: string;
  /** The SSH signature of the run's public key. */
  certificate: string;
  /** Of the text, by the run's key, in base64. */
  signature: string;
};

export type RunKey = { sign: (text: string) => RunSignature };

/** Makes the key of a run; `key` as for signDigest. */
export function makeRunKey(key: string): RunKey | Problem {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const runKey = publicKey.export({ type: "spki", format: "der" }).toString("base64");
  const certificate = signDigest(digestOf(runKey), { of: "run-key", key });
  if (certificate.kind === "refused") return certificate;
  return {
    sign: (text) => ({
      runKey,
      certificate: certificate.text,
      signature: signBytes(null, message(text), privateKey).toString("base64"),
    }),
  };
}

/** Checks signatures of runs. Remembers the keys of runs that it has checked. */
export class RunSignatures {
  readonly #allowedSigners: string;
  readonly #known = new Map<string, { publicKey?: KeyObject; verification: Verification }>();

  /** `allowedSigners` as for verifyDigest. */
  constructor(allowedSigners: string) {
    this.#allowedSigners = allowedSigners;
  }

  verify(text: string, signed: RunSignature): Verification {
    const { publicKey, verification } = this.#runKey(signed);
    if (verification.kind === "refused") return verification;
    const isValid =
      publicKey !== undefined &&
      verifyBytes(null, message(text), publicKey, Buffer.from(signed.signature, "base64"));
    return isValid ? verification : badSignature;
  }

  #runKey({ runKey, certificate }: RunSignature) {
    return this.#known.getOrInsertComputed(digestOf(`${runKey} ${certificate}`), () => {
      const publicKey = ed25519Key(runKey);
      if (!publicKey) return { verification: badSignature };
      const as = { of: "run-key", allowedSigners: this.#allowedSigners } as const;
      return { publicKey, verification: verifyDigest(digestOf(runKey), certificate, as) };
    });
  }
}

const badSignature = refused(
  "bad-signature",
  "the signature does not belong to this content",
  "the content was changed after it was signed, or damaged on its way",
);

function ed25519Key(runKey: string): KeyObject | undefined {
  try {
    const key = createPublicKey({ key: Buffer.from(runKey, "base64"), format: "der", type: "spki" });
    return key.asymmetricKeyType === "ed25519" ? key : undefined;
  } catch {
    return undefined; // it is no key
  }
}

/** Names the kind of thing, the result of an action, so that a signature of it is never valid for another. */
function message(text: string): Buffer {
  return Buffer.from(`mlrb action-result sha256:${digestOf(text)}\n`);
}

function digestOf(text: string): string {
  return hash("sha256", text);
}
