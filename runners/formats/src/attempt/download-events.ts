// Events of a trajectory about what entered a sealed attempt through the download gateway.
import { nullable, oneOf, sha256, anyText as text } from "../schema.ts";
import { count, event } from "./trajectory-event.ts";

const flag = { type: "boolean" } as const;

export const recordedKind = oneOf("model", "dataset", "package", "code");

export const downloadEvents = [
  event(
    "download",
    {
      from: { ...recordedKind, description: "the kind of its repository" },
      id: { ...text, description: "owner/name as the hub names it now, or a package" },
      revision: { ...nullable(text), description: "a commit; of code, what was asked for; null: a package" },
      path: { ...text, description: "the file in its repository" },
      digest: sha256,
      bytes: count,
      cached: { ...flag, description: "whether an earlier download of this host was used" },
    },
    {
      createdAt: { ...text, description: "when the repository was made, as the hub says" },
      changedAt: {
        ...text,
        description: "of a model's file: when its last commit was made, as the hub says",
      },
      parameters: { ...count, description: "of the model, as the hub says" },
    },
  ),
  event("download-refused", {
    asked: { ...text, description: "method and path of the request" },
    cause: oneOf(
      "not-served",
      "withheld",
      "unreadable",
      "too-large",
      "over-limit",
      "no-space",
      "not-there",
      "upstream",
    ),
    detail: text,
  }),
] as const;
