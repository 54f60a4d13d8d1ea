// The scaffolds that a preset may name.
import type { ScaffoldSpec } from "@mlrb/formats/declared/agent-preset";
import { mlrb2024 } from "./mlrb-2024.ts";
import { react } from "./react.ts";
import type { Scaffold } from "./scaffold.ts";
import { supervisorWorker } from "./supervisor-worker.ts";

export const scaffolds: Record<ScaffoldSpec["kind"], Scaffold> = {
  react,
  "supervisor-worker": supervisorWorker,
  "mlrb-2024": mlrb2024,
};
