// The format of a line of refusals.jsonl: what a stage's script asked for and was refused. The guard inside the
// script's process writes it, so the script can write in it too.
import * as t from "../schema.ts";

export const refusal = t.wholeExcept(["asked"], {
  kind: t.about(
    t.oneOf("read", "list", "folder", "write", "network", "program", "native", "link"),
    "folder: it asked about one, without listing it",
  ),
  resource: t.about(t.anyText, "a path, a program or an address"),
  asked: t.about(t.anyText, "as the script wrote it, where that differs"),
});
export type Refusal = t.TypeOf<typeof refusal>;
