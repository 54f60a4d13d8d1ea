// Events of a trajectory about what entered a sealed attempt through the download gateway.
import * as t from "../schema.ts";
import { count, event } from "./trajectory-event.ts";

export const recordedKind = t.oneOf("model", "dataset", "package", "code");

export const downloadEvents = [
  event(
    "download",
    {
      from: t.about(recordedKind, "the kind of its repository"),
      id: t.about(t.anyText, "owner/name as the hub names it now, or a package"),
      revision: t.about(t.nullable(t.anyText), "a commit; of code, what was asked for; null: a package"),
      path: t.about(t.anyText, "the file in its repository"),
      digest: t.sha256,
      bytes: count,
      cached: t.about(t.flag, "whether an earlier download of this host was used"),
    },
    {
      createdAt: t.about(t.anyText, "when the repository was made, as the hub says"),
      changedAt: t.about(t.anyText, "of a model's file: when its last commit was made, as the hub says"),
      parameters: t.about(count, "of the model, as the hub says"),
    },
  ),
  event("download-refused", {
    asked: t.about(t.anyText, "method and path of the request"),
    cause: t.oneOf(
      "not-served",
      "withheld",
      "unreadable",
      "too-large",
      "over-limit",
      "no-space",
      "not-there",
      "upstream",
    ),
    detail: t.anyText,
  }),
] as const;
