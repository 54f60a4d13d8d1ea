// Shows the waits of one model call on the board of the attempt.
import type { WaitReason } from "@mlrb/formats/attempt/trajectory";
import type { WaitBoard } from "../waiting/wait-board.ts";
import { failureWait } from "./call-events.ts";
import type { ModelFailure } from "./model-client.ts";

type ShownWait = { why: WaitReason; failure: ModelFailure; waitMs: number; leftMs: number };

/**
 * Consecutive waits for one side, the provider or the operator, are one trouble with one beginning. `wallNow`: ms since
 * the epoch.
 */
export function showWaits(call: string, board: WaitBoard | undefined, wallNow = Date.now) {
  let since: { side: string; at: number } | undefined;
  return (wait: ShownWait) => {
    const side = wait.why === "operator" ? "operator" : "provider";
    const now = wallNow();
    if (since?.side !== side) since = { side, at: now };
    board?.show(call, failureWait({ ...wait, since: since.at, now }));
  };
}
