// The clock of an attempt at a time that the test sets, in a sandbox that freezes.
import { AttemptClock } from "../attempt/attempt-clock.ts";
import { fakeSandbox } from "./fake-sandbox.ts";

export function testClock(sinceStart = () => 0): AttemptClock {
  return new AttemptClock({ sandbox: fakeSandbox(), startedWall: 0, sinceStart });
}
