// What two agents are compared by at one task.
import type { Attempt, Cell } from "./report.ts";

/** The cells of both agents on the task's primary metric, and the attempts they are of, in the cells' order. */
export type Duel = { a: Side; b: Side };

export type Side = Cell & { attempts: Attempt[] };
