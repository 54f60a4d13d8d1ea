// The two agents of a comparison at one task.
import type { Attempt } from "@mlrb/formats/report/attempt";
import type { Cell } from "@mlrb/formats/report/cell";

/** The cells of both agents on the primary metric, with their attempts in the order of the cells. */
export type AgentPair = { a: Side; b: Side };

export type Side = Cell & { attempts: Attempt[] };
