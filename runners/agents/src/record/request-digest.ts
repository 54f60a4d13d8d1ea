// By what a model request is found again in a recording: model, tools and messages, with what differs between two
// runs of one conversation left blank (the deadline, a sandbox's place on the host). It is a chain over the
// messages, so that a replay that goes astray can tell after which message it did.
import { hash } from "node:crypto";
import { canonicalJson } from "@mlrb/kit/json-file";
import type { Message, ModelRequest } from "../model/model-client.ts";

export type DigestRequest = (request: Pick<ModelRequest, "messages" | "tools">) => RequestDigest;

type RequestDigest = {
  /** Of the whole request. */
  digest: string;
  /** Of the request as it was before each of its messages; the first is of model and tools alone. */
  chain: string[];
};

/** `blanks`: texts that differ between runs, by what stands for them, e.g. `{ deadline: "2026-…" }`. */
export function requestDigest(
  model: { provider: string; id: string },
  blanks: Record<string, string>,
): DigestRequest {
  const told = Object.entries(blanks)
    .filter(([, text]) => text !== "")
    .sort(([, a], [, b]) => b.length - a.length);
  const blanked = (text: string) =>
    told.reduce((rest, [name, value]) => rest.replaceAll(value, `{{${name}}}`), text);
  // a conversation is asked about again and again, a message longer each time
  const known = new WeakMap<Message, string>();
  const ofMessage = (message: Message) => {
    let digest = known.get(message);
    if (digest === undefined) {
      digest = hash("sha256", blanked(canonicalJson(message)));
      known.set(message, digest);
    }
    return digest;
  };
  return ({ messages, tools }) => {
    const chain = [
      hash("sha256", blanked(canonicalJson({ provider: model.provider, model: model.id, tools }))),
    ];
    for (const message of messages) chain.push(hash("sha256", chain.at(-1)! + ofMessage(message)));
    return { digest: chain.at(-1)!, chain };
  };
}
