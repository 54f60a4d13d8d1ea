// A name for this process that is unique over machines and containers: for temporary files, so that cleaning up
// after a dead process never removes those of a living one.
import { randomBytes } from "node:crypto";

/** Letters and digits; begins with the pid. */
export const processName: string = `${process.pid}x${randomBytes(4).toString("hex")}`;
