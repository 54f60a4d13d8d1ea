// The contract of every scorer; see testing/contract.ts. Broken submissions of most scorers are in the thorough
// tier.
import {
  prepareSubmissions,
  sampled,
  scorers,
  testBrokenSubmissions,
  testContract,
} from "./testing/contract.ts";

prepareSubmissions();
for (const scorer of scorers) {
  testContract(scorer);
  if (sampled.includes(scorer)) testBrokenSubmissions(scorer);
}
