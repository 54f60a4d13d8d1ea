// A stage script for tests: it imports a package of ours, so that links of node_modules are followed inside.
import { exitDetail } from "@mlrb/kit/processes/exit-detail";

console.log(exitDetail(3));
