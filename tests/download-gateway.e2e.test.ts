// Downloads of an attempt in bubblewrap.
import { bubblewrapMissing } from "@mlrb/agents/sandbox/bubblewrap-abilities";
import { bubblewrapWalls } from "@mlrb/agents/sandbox/bubblewrap-walls";
import { downloadSuite } from "./support/sandboxes/download-suite.ts";

downloadSuite({ kind: "bubblewrap", open: bubblewrapWalls }, await bubblewrapMissing());
