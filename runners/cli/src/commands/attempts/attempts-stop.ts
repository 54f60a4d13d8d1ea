// `pipeline attempts stop`: ends a running attempt, with or without a run, or gives up one whose supervisor or
// host died, and quarantines what it made and spent.

import { waitsIn } from "@mlrb/local/attempts/attempt-waits";
import { stopAttempt } from "@mlrb/local/attempts/stop-attempt";
import { stateFolder } from "@mlrb/local/store/state-folder";
import { findRunning } from "../../request/find-running.ts";
import { refuseWords } from "../../request/refuse.ts";
import { type PlaceOptions, rootFolder } from "../../request/root-folder.ts";
import { clearSandbox, endJobs } from "../../run/executors.ts";
import { printStopped } from "../../run/leave-attempts.ts";

export async function attemptsStop(repository: string, what: string, options: PlaceOptions): Promise<number> {
  const state = stateFolder(rootFolder(repository, options.root));
  const one = findRunning(what, { state }, ["running", "resumable"]);
  if (typeof one === "string") return refuseWords(one);
  const { stage } = one.card.slot;
  const [wait] = waitsIn(one.path);
  const waited = wait ? `, while it waited: ${wait.cause}: ${wait.detail}` : "";
  const by = `by \`attempts stop\`${waited}`;
  const stopped = await stopAttempt(one, { state, clearSandbox, endJobs, by });
  printStopped(stage, stopped, { json: options.json, stream: process.stdout });
  return stopped.kind === "refused" ? 1 : 0;
}
