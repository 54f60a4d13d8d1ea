// `pipeline attempts adopt`: makes records of lost attempts that had finished. Only an attempt whose ledger seals
// its trajectory counts as finished.

import { counted } from "@mlrb/core/text/counted";
import { adoptLost } from "@mlrb/local/attempts/adopt-lost";
import type { LostAttempt } from "@mlrb/local/attempts/lost-attempts";
import { openWorkspace } from "@mlrb/local/store/workspace";
import { attemptPlace, findAttempt } from "../../request/find-attempt.ts";
import { refuseWords } from "../../request/refuse.ts";
import { type PlaceOptions, rootFolder } from "../../request/root-folder.ts";
import { typedProgram } from "../../request/typed-program.ts";
import { oneLine, printJson } from "../../show/print.ts";

export async function attemptsAdopt(
  repository: string,
  what: string | undefined,
  options: PlaceOptions,
): Promise<number> {
  const wanted = which(what, attemptPlace(repository, options.root));
  if (typeof wanted === "string") return refuseWords(wanted);
  const root = rootFolder(repository, options.root);
  const workspace = openWorkspace({ repository, root, pipeline: "", profile: "" });
  const adopted = await adoptLost(workspace, wanted);
  for (const { attempt, ...became } of adopted) {
    const { stage } = attempt.card.slot;
    if (options.json) printJson({ event: "attempt-adopted", name: attempt.name, stage, ...became });
    else
      process.stdout.write(
        became.kind === "kept"
          ? `kept    ${oneLine(stage)}  as ${became.record.slice(0, 12)}\n`
          : `left    ${oneLine(stage)}  in ${attempt.left.folder}: ${oneLine(became.why)}\n`,
      );
  }
  const kept = adopted.filter(({ kind }) => kind === "kept").length;
  if (!options.json)
    process.stdout.write(`${counted(kept, "attempt")} adopted, ${adopted.length - kept} left as lost\n`);
  return what !== undefined && kept === 0 ? 1 : 0;
}

function which(
  what: string | undefined,
  place: ReturnType<typeof attemptPlace>,
): ((attempt: LostAttempt) => boolean) | string {
  if (what === undefined) return () => true;
  const found = findAttempt(what, place);
  if (typeof found === "string") return found;
  if (found.kind !== "lost")
    return `not-lost: ${what} is ${found.kind === "record" ? "recorded" : "running"}\n  help: \`${typedProgram()} attempts list\` shows which are lost`;
  const { name } = found.attempt;
  return (attempt) => attempt.name === name;
}
