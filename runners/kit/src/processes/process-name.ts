// A name for this process that no other has, on any machine and in any container: for files that are not
// in place yet, so that whoever clears up after a dead process never takes a living one's.
import { randomBytes } from "node:crypto";

/** Letters and digits; begins with the pid. */
export const processName: string = `${process.pid}x${randomBytes(4).toString("hex")}`;
