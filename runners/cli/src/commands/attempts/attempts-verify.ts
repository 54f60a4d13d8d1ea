// `pipeline attempts verify`: checks every byte of records, and repairs damaged files from the cache.

import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { counted } from "@mlrb/core/text/counted";
import { verifyTrajectory } from "@mlrb/kit/attempts/verify-trajectory";
import { readLedger } from "@mlrb/kit/rules/ledger";
import { forgetUnchanged } from "@mlrb/local/decide/no-op-fast-path";
import { type RecordCheck, verifyRecord } from "@mlrb/local/records/verify-record";
import { Store } from "@mlrb/local/store/artifact-store";
import { type AttemptPlace, attemptPlace } from "../../request/find-attempt.ts";
import { refuseWords } from "../../request/refuse.ts";
import type { PlaceOptions } from "../../request/root-folder.ts";
import { typedProgram } from "../../request/typed-program.ts";
import { printJson, printLine } from "../../show/print.ts";

/** Returns 1 if a record is still damaged, or its trajectory is inconsistent. */
export async function attemptsVerify(
  repository: string,
  prefixes: string[],
  options: PlaceOptions,
): Promise<number> {
  const place = attemptPlace(repository, options.root);
  for (const record of place.records.wrongLines())
    process.stderr.write(
      `repaired  ${record.slice(0, 12)}  its line of attempts/index.jsonl, from the record\n`,
    );
  const all = place.records.list();
  const unknown = prefixes.find((prefix) => !all.some((digest) => digest.startsWith(prefix)));
  if (unknown !== undefined)
    return refuseWords(
      `unknown-attempt: no attempt's digest begins with "${unknown}"\n  help: \`${typedProgram()} attempts list\` shows all ${all.length}`,
    );
  const chosen = all.filter(
    (digest) => prefixes.length === 0 || prefixes.some((one) => digest.startsWith(one)),
  );
  const folder = join(place.state.attempts, "records");
  let damaged = 0;
  let repaired = 0;
  let thinned = 0;
  for (const digest of chosen) {
    const check = verifyRecord(digest, { ...place, folder, store: new Store(place.state.blobs) });
    if (check.left.length === 0) check.left.push(...(await brokenChain(digest, folder, place)));
    if (check.left.length > 0) damaged++;
    if (check.repaired.length > 0) repaired++;
    if (check.thinned) thinned++;
    say(check, { json: options.json, path: join(folder, digest) });
  }
  if (damaged > 0) forgetUnchanged(place.state);
  const counts = { checked: chosen.length, damaged, repaired, thinned };
  const words = `${counted(chosen.length, "attempt")} read, ${damaged} damaged, ${repaired} repaired${thinned > 0 ? `, ${thinned} thinned` : ""}`;
  if (options.json) printJson({ event: "attempts-verify", ...counts });
  else printLine(words);
  return damaged > 0 ? 1 : 0;
}

/** Problems of a trajectory that is not the one sealed by its ledger. */
async function brokenChain(digest: string, folder: string, { records }: AttemptPlace): Promise<string[]> {
  const record = records.read(digest);
  const { trajectory, ledger } = record.outputs;
  if (!trajectory || !ledger) return [];
  const sealed = readLedger(join(folder, digest, ledger.file));
  if (typeof sealed === "string") return []; // another kind of stage may have an output called ledger
  if (!isDeepStrictEqual(record.interventions, sealed.interventions))
    return ["record.json does not say what people did to the attempt, as its ledger does"];
  const check = await verifyTrajectory(join(folder, digest, trajectory.file), sealed.trajectory);
  if (check.kind === "intact") return [];
  return [`${trajectory.file}: line ${check.line} ${check.reason}; this was so when the record was made`];
}

function say({ record, repaired, left }: RecordCheck, { json, path }: { json: boolean; path: string }): void {
  if (repaired.length + left.length === 0) return;
  if (json) {
    printJson({ event: "attempt-verify", record, path, repaired, left });
    return;
  }
  const lines = [
    ...repaired.map((file) => `repaired  ${record.slice(0, 12)}  ${file}, from the cache`),
    ...left.map((what) => `damaged   ${record.slice(0, 12)}  ${what}`),
    ...(left.length > 0
      ? [
          `          the cache cannot repair it: put the original back as ${path}`,
          `          or copy it from another machine: there \`${typedProgram()} attempts export DIR\`, here \`${typedProgram()} attempts import DIR\``,
        ]
      : []),
  ];
  for (const line of lines) printLine(line);
}
