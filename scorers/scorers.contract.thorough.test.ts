// The broken submissions that the default tier skips; see testing/contract.ts.
import { prepareSubmissions, sampled, scorers, testBrokenSubmissions } from "./testing/contract.ts";

prepareSubmissions();
for (const scorer of scorers) if (!sampled.includes(scorer)) testBrokenSubmissions(scorer);
