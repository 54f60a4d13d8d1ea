// `pipeline attempts pause`: a running attempt stops before its next model call, until `attempts resume`.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { attemptId, pauseFile, resumeCommand } from "@mlrb/core/ports/attempt-wait";
import { personSocket } from "@mlrb/formats/attempt/person";
import { canonicalJson, writeWhole } from "@mlrb/kit/json-file";
import { stateFolder } from "@mlrb/local/store/state-folder";
import { findRunning } from "../../request/find-running.ts";
import { refuseWords } from "../../request/refuse.ts";
import { type PlaceOptions, rootFolder } from "../../request/root-folder.ts";
import { inTypedForm } from "../../request/typed-program.ts";
import { printJson } from "../../show/print.ts";

export function attemptsPause(repository: string, what: string | undefined, options: PlaceOptions): number {
  const root = rootFolder(repository, options.root);
  const found = findRunning(what, { state: stateFolder(root) });
  if (typeof found === "string") return refuseWords(found);
  const { name, path, card } = found;
  if (existsSync(join(path, personSocket.folder)))
    return refuseWords("at-a-terminal: a person works on it, and pauses there with Ctrl-]");
  const text = canonicalJson({ formatVersion: 1, since: new Date().toISOString() });
  writeWhole(join(path, pauseFile), text, { sync: false });
  const { stage } = card.slot;
  const command = inTypedForm(resumeCommand(name, root === repository ? undefined : root));
  if (options.json) printJson({ event: "attempt-paused", id: attemptId(name), stage, command });
  else
    process.stdout.write(
      `${stage}: stops before its next model call; what runs in its sandbox goes on until then\n  to continue: ${command}\n`,
    );
  return 0;
}
