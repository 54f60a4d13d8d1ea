// The broken submissions that the default tier skips; see testing/contract.ts. A run draws half of the scorers:
// MLRB_TEST_SCORERS repeats a draw, or is `all`.
import { randomInt } from "node:crypto";
import { prepareSubmissions, sampled, scorers, testBrokenSubmissions } from "./testing/contract.ts";

const others = scorers.filter((scorer) => !sampled.includes(scorer));
const named = process.env.MLRB_TEST_SCORERS;
const drawn = named === "all" ? others : (named?.split(",") ?? half([...others]));

prepareSubmissions();
console.log(`broken submissions of MLRB_TEST_SCORERS=${drawn.join(",")}`);
for (const scorer of drawn) testBrokenSubmissions(scorer);

function half(left: string[]): string[] {
  const count = Math.ceil(left.length / 2);
  return Array.from({ length: count }, () => left.splice(randomInt(left.length), 1)[0]!);
}
