// What an attempt uses while it waits for a provider or a person. Types only.
import type { OperatorDesk } from "./operator-desk.ts";
import type { Patience } from "./patience.ts";
import type { WaitBoard } from "./wait-board.ts";

export type AttemptWaiting = { desk: OperatorDesk; board: WaitBoard; patience: Patience };
