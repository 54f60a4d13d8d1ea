// `pipeline attempts stop`: ends an attempt that goes on although the run that began it is gone. One whose run
// lives is that run's to end.
import { setTimeout as sleep } from "node:timers/promises";
import { sandboxToken } from "@mlrb/core/sandbox-token";
import { type AttemptFolder, attemptFolder, attemptToken } from "@mlrb/local/attempt-folders";
import { isAlive, ownerWords } from "@mlrb/local/owner";
import { removeFolder } from "@mlrb/local/remove-folder";
import { stateFolder } from "@mlrb/local/state-folder";
import { watchSupervised } from "@mlrb/local/supervised";
import { orphanedAttempts, runningAttempts } from "@mlrb/local/take-in-attempts";
import type { PlaceOptions } from "./attempts-command.ts";
import { clearSandbox } from "./executors.ts";
import { rootOf } from "./root-of.ts";

export async function attemptsStop(
  repository: string,
  stage: string,
  options: PlaceOptions,
): Promise<number> {
  const state = stateFolder(rootOf(repository, options.root));
  const named = ({ card }: AttemptFolder) => card.slot.stage === stage;
  const found = runningAttempts({ state }).filter(named);
  if (found.length === 0) {
    const going = orphanedAttempts({ state }).map(({ card }) => card.slot.stage);
    const which = going.length > 0 ? `; these do: ${going.join(", ")}` : "";
    process.stderr.write(`no-such-attempt: no attempt ${stage} goes on here${which}\n`);
    return 2;
  }
  const held = found.find(({ card }) => isAlive(card.by));
  if (held) {
    process.stderr.write(
      `held-attempt: ${stage} belongs to run ${held.card.run}, ${ownerWords(held.card.by)}; end that run (Ctrl-C)\n`,
    );
    return 2;
  }
  for (const one of found) await stop(one, { running: state.running, json: options.json });
  return 0;
}

async function stop(
  { name, path, card }: AttemptFolder,
  { running, json }: { running: string; json: boolean },
): Promise<void> {
  const handle = watchSupervised(path, name);
  handle.askToEnd();
  await Promise.race([handle.ended, sleep(20_000, undefined, { ref: false })]);
  handle.kill();
  await handle.ended;
  await clearSandbox(sandboxToken(attemptToken(name)), card.executor);
  const ended = attemptFolder(running, name)?.state;
  // it may just have come to its end: then the next run keeps it
  const kept = ended?.kind === "ended" && ended.end.result.kind === "succeeded";
  if (!kept) removeFolder(path);
  const { stage } = card.slot;
  const words = kept ? "had ended by itself; the next run keeps it" : "stopped; nothing of it is kept";
  process.stdout.write(
    json ? `${JSON.stringify({ event: "attempt-stopped", stage, kept })}\n` : `${stage}: ${words}\n`,
  );
}
