// A held call without a reservation, for meters of tests and for charges whose reservation does not matter.
import type { HeldCall } from "../attempt/meter.ts";

export const heldCall: HeldCall = { again: () => true, release() {} };
