// A stage script for tests: imports a package of ours, so links of node_modules are followed inside the container.
import { exitDetail } from "@mlrb/kit/processes/exit-detail";

console.log(exitDetail(3));
