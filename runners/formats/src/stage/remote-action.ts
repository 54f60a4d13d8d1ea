// An action's result in a remote cache. The server sees an ActionResult of the Remote Execution API as JSON, which
// names the contents: a server that checks results then serves none whose contents it lost. What counts is the signed
// payload in `stdoutRaw`.
import { anyText, count, sha256, type TypeOf, tableOf, text, wholeObject } from "../schema.ts";
import { ran } from "./action.ts";
import { artifact } from "./artifact.ts";

/** The field of an ActionResult that readers use: base64 of a signed result. */
export const actionResult = wholeObject({ stdoutRaw: text });

export const signedResult = wholeObject({
  payload: { ...text, description: "a remote action, as JSON text" },
  runKey: { ...text, description: "the public key of the run that signed the payload: DER, base64" },
  certificate: { ...text, description: "the SSH signature of the run's public key" },
  signature: { ...text, description: "of the payload, by the run's key: Ed25519, base64" },
});

export const remoteAction = wholeObject({
  formatVersion: { const: 1 },
  key: { ...sha256, description: "the action key" },
  address: {
    ...sha256,
    description: "where the result lies: the key, for a stage with GPUs with their models",
  },
  stage: { ...anyText, description: "the instance that ran" },
  outputs: tableOf(artifact),
  contents: {
    ...tableOf(count),
    propertyNames: sha256,
    description: "the bytes of every content of the outputs, by digest",
  },
  ran,
});
export type RemoteAction = TypeOf<typeof remoteAction>;
