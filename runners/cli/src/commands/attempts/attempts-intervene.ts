// `pipeline attempts extend`: more budget for an attempt. The command adds a line to a file in the attempt's
// folder; the attempt's harness reads it and says so in the trajectory.

import { userInfo } from "node:os";
import { join } from "node:path";
import { attemptId } from "@mlrb/core/ports/attempt-wait";
import { formatDuration } from "@mlrb/core/text/units";
import { type Intervention, intervention, interventionsFile } from "@mlrb/formats/declared/intervention";
import { readFormat } from "@mlrb/formats/read-format";
import { isFullDisk } from "@mlrb/kit/files/full-disk";
import { canonicalJson } from "@mlrb/kit/json-file";
import type { AttemptFolder } from "@mlrb/local/attempts/attempt-folders";
import { appendLines } from "@mlrb/local/records/decision-log";
import { stateFolder } from "@mlrb/local/store/state-folder";
import { findRunning } from "../../request/find-running.ts";
import { refuseWords } from "../../request/refuse.ts";
import { type PlaceOptions, rootFolder } from "../../request/root-folder.ts";
import { printJson } from "../../show/print.ts";

export type ExtendOptions = PlaceOptions & { hours?: string; dollars?: string; by?: string };

const hoursMax = 24 * 365;
const dollarsMax = 1e6;

export function attemptsExtend(repository: string, what: string, options: ExtendOptions): number {
  const hours = amountOf(options.hours, hoursMax);
  const dollars = amountOf(options.dollars, dollarsMax);
  if (hours === undefined || dollars === undefined || hours + dollars === 0)
    return refuseWords(
      `bad-extension: nothing was added\n  help: --hours N and --dollars N are numbers above 0, at most ${hoursMax} hours and ${dollarsMax} dollars; give one of them, or both`,
    );
  const state = stateFolder(rootFolder(repository, options.root));
  // also one whose supervisor or host died
  const found = findRunning(what, { state }, ["running", "resumable"]);
  if (typeof found === "string") return refuseWords(found);
  const { card } = found;
  if (dollars > 0 && card.parts.budget?.dollars === undefined)
    return refuseWords(
      `no-limit: ${card.slot.stage} has no limit in dollars that could be extended\n  help: --hours N extends its time; --max-cost of its run limits all attempts of the run`,
    );
  const addedMs = Math.round(hours * 3_600_000);
  const added = [
    ...(addedMs > 0 ? [formatDuration(addedMs)] : []),
    ...(dollars > 0 ? [`${dollars} dollars`] : []),
  ];
  const { by = userInfo().username } = options;
  const asked = { formatVersion: 1, at: new Date().toISOString(), by } as const;
  const words = `extended by ${added.join(" and ")}`;
  return add({ kind: "extend", ...asked, addedMs, addedDollars: dollars }, found, { ...options, words });
}

/** NaN, a negative number and more than `most` are undefined; an option that is not given is 0. */
function amountOf(typed: string | undefined, most: number): number | undefined {
  if (typed === undefined) return 0;
  const amount = typed.trim() === "" ? Number.NaN : Number(typed);
  return amount > 0 && amount <= most ? amount : undefined;
}

function add(
  one: Intervention,
  { name, path, card, state }: AttemptFolder,
  { json, words }: { json: boolean; words: string },
): number {
  const reading = readFormat(intervention, canonicalJson(one));
  if (reading.kind === "unreadable") return refuseWords(`bad-intervention: ${reading.cause}`);
  const { stage } = card.slot;
  try {
    appendLines(join(path, interventionsFile), [one]); // on disk before the trajectory names it
  } catch (error) {
    const why = isFullDisk(error) ? "no space left on the disk; free some space" : (error as Error).message;
    return refuseWords(`not-written: ${stage}: ${why}, then repeat this command`);
  }
  if (json) {
    const { formatVersion: _, ...fields } = one;
    printJson({ event: "attempt-intervention", id: attemptId(name), stage, ...fields });
    return 0;
  }
  const when =
    state.kind === "running"
      ? "it counts within a second, or at its next model call"
      : "it counts once the attempt continues";
  process.stdout.write(
    `${stage}: ${words}; ${when}\n  the attempt is in no mean and no test from now on; tables name it with this reason\n`,
  );
  return 0;
}
