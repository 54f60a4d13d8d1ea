// `pipeline attempts stop`: ends a running attempt, with or without a run, or gives up one whose supervisor or host died,
// and quarantines what it made and spent.
import { attemptId } from "@mlrb/core/ports/attempt-wait";
import { type AttemptFolder, attemptFolders } from "@mlrb/local/attempts/attempt-folders";
import { waitsIn } from "@mlrb/local/attempts/attempt-waits";
import { stopAttempt } from "@mlrb/local/attempts/stop-attempt";
import { stateFolder } from "@mlrb/local/store/state-folder";
import { type PlaceOptions, rootFolder } from "../request/root-folder.ts";
import { clearSandbox } from "../run/executors.ts";
import { printStopped } from "../run/leave-attempts.ts";

export async function attemptsStop(repository: string, what: string, options: PlaceOptions): Promise<number> {
  const state = stateFolder(rootFolder(repository, options.root));
  const all = attemptFolders(state.running).filter(
    ({ state: { kind } }) => kind === "running" || kind === "resumable",
  );
  const ofStage = all.filter(({ card }) => card.slot.stage === what);
  const found = ofStage.length > 0 ? ofStage : all.filter(({ name }) => name.startsWith(what));
  if (found.length === 0) {
    const going = all.map(({ card }) => card.slot.stage);
    const which = going.length > 0 ? `; running: ${going.join(", ")}` : "";
    process.stderr.write(`no-such-attempt: no attempt ${what} is running here${which}\n`);
    return 2;
  }
  if (found.length > 1) {
    process.stderr.write(
      `several-attempts: "${what}" names ${found.length} running attempts; none was stopped\n  help: one of ${found.map(nameWords).join(", ")}\n`,
    );
    return 2;
  }
  for (const one of found) {
    const { stage } = one.card.slot;
    const [wait] = waitsIn(one.path);
    const waited = wait ? `, while it waited: ${wait.cause}: ${wait.detail}` : "";
    const by = `by \`attempts stop\`${waited}`;
    const settled = await stopAttempt(one, { state, clearSandbox, by });
    printStopped(stage, settled, { json: options.json, stream: process.stdout });
  }
  return 0;
}

function nameWords({ name, card: { slot } }: AttemptFolder): string {
  return `${attemptId(name)} (${slot.pipeline} (${slot.profile}) ${slot.stage})`;
}
