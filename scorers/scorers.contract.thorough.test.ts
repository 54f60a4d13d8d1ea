// The broken submissions that the default tier skips; see testing/contract.ts. A run draws a third of the scorers;
// MLRB_TEST_SCORERS names them, or is `all`.

import { drawn } from "../tests/support/test-seed.ts";
import { prepareSubmissions, sampled, scorers, testBrokenSubmissions } from "./testing/contract.ts";

const others = scorers.filter((scorer) => !sampled.includes(scorer));
const named = process.env.MLRB_TEST_SCORERS;
const chosen = named === "all" ? others : (named?.split(",") ?? drawn(others, Math.ceil(others.length / 3)));

prepareSubmissions();
console.log(`broken submissions of MLRB_TEST_SCORERS=${chosen.join(",")}`);
for (const scorer of chosen) testBrokenSubmissions(scorer);
