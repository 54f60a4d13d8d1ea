// What two agents are compared by at one task.
import type { Cell } from "./report.ts";

/** The cells of both agents on the task's primary metric. */
export type Duel = { a: Cell; b: Cell };
