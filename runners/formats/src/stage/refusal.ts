// The format of a line of refusals.jsonl: what a stage's script asked for and was refused. The guard inside the
// script's process writes it, so the script can write in it too.
import { anyText, oneOf, type TypeOf, wholeExcept } from "../schema.ts";

export const refusal = wholeExcept(["asked"], {
  kind: {
    ...oneOf("read", "list", "folder", "write", "network", "program", "native", "link"),
    description: "folder: it asked about one, without listing it",
  },
  resource: { ...anyText, description: "a path, a program or an address" },
  asked: { ...anyText, description: "as the script wrote it, where that differs" },
});
export type Refusal = TypeOf<typeof refusal>;
