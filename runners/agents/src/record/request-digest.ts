// Identifies a model request in a recording: model, tools and messages, with blanks for texts that differ between
// two runs of one conversation (the deadline, the sandbox's path on the host). The digest is a chain over the
// messages, so a replay that differs can name the first message that does.
import { hash } from "node:crypto";
import { canonicalJson } from "@mlrb/kit/json-file";
import type { Message, ModelRequest } from "../model/model-client.ts";

export type DigestRequest = (request: Pick<ModelRequest, "messages" | "tools">) => RequestDigest;

type RequestDigest = {
  /** Of the whole request. */
  digest: string;
  /** Before each of its messages; the first digest covers model and tools alone. */
  chain: string[];
};

/** `blanks`: texts that differ between runs, by the name that replaces them, e.g. `{ deadline: "2026-…" }`. */
export function requestDigest(
  model: { provider: string; id: string },
  blanks: Record<string, string>,
): DigestRequest {
  const texts = Object.entries(blanks)
    .filter(([, text]) => text !== "")
    .sort(([, a], [, b]) => b.length - a.length);
  const blanked = (text: string) =>
    texts.reduce((rest, [name, value]) => rest.replaceAll(value, `{{${name}}}`), text);
  // a conversation is sent again and again, one message longer each time
  const known = new WeakMap<Message, string>();
  const ofMessage = (message: Message) =>
    known.getOrInsertComputed(message, () => hash("sha256", blanked(canonicalJson(message))));
  return ({ messages, tools }) => {
    const chain = [
      hash("sha256", blanked(canonicalJson({ provider: model.provider, model: model.id, tools }))),
    ];
    for (const message of messages) chain.push(hash("sha256", chain.at(-1)! + ofMessage(message)));
    return { digest: chain.at(-1)!, chain };
  };
}
