// An action's result in a remote cache. The server sees an ActionResult of the Remote Execution API as JSON, which
// names the contents: a server that checks results then serves none whose contents it lost. What counts is the
// signed payload in `stdoutRaw`.
import * as t from "../schema.ts";
import { ran } from "./action.ts";
import { artifact } from "./artifact.ts";

/** The field of an ActionResult that readers use: base64 of a signed result. */
export const actionResult = t.wholeObject({ stdoutRaw: t.text });

export const signedResult = t.wholeObject({
  payload: t.about(t.text, "a remote action, as JSON text"),
  runKey: t.about(t.text, "the public key of the run that signed the payload: DER, base64"),
  certificate: t.about(t.text, "the SSH signature of the run's public key"),
  signature: t.about(t.text, "of the payload, by the run's key: Ed25519, base64"),
});

export const remoteAction = t.wholeObject({
  formatVersion: { const: 1 },
  key: t.about(t.sha256, "the action key"),
  address: t.about(t.sha256, "where the result lies: the key, for a stage with GPUs with their models"),
  stage: t.about(t.anyText, "the instance that ran"),
  outputs: t.tableOf(artifact),
  contents: t.about(
    { ...t.tableOf(t.count), propertyNames: t.sha256 },
    "the bytes of every content of the outputs, by digest",
  ),
  ran,
});
export type RemoteAction = t.TypeOf<typeof remoteAction>;
