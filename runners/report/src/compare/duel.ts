// What two agents are compared by at one task.
import type { Attempt } from "@mlrb/formats/report/attempt";
import type { Cell } from "@mlrb/formats/report/cell";

/** The cells of both agents on the task's primary metric, and the attempts they are of, in the cells' order. */
export type Duel = { a: Side; b: Side };

export type Side = Cell & { attempts: Attempt[] };
