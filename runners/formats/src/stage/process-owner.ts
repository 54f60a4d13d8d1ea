// The format of owner.json, supervisor.json and leases: the owning process, described so that others can find out
// whether it is still alive.
import { anyText, flag, type TypeOf, wholeExcept } from "../schema.ts";

export const processOwner = wholeExcept(["table", "machine", "since", "gone", "folder"], {
  host: anyText,
  boot: { ...anyText, description: "of this boot of the machine; containers of one machine share it" },
  pid: { type: "integer" },
  started: { ...anyText, description: "in the clock ticks of the process table" },
  table: { ...anyText, description: "the process table (pid namespace) that `pid` is a line of" },
  machine: { ...anyText, description: "of the installation: two machines of one name differ in it" },
  since: { ...anyText, description: "by the owner's own clock: for people, never compared" },
  gone: {
    ...flag,
    description: "a person declared its host gone (--take-over): it counts as dead everywhere",
  },
  folder: {
    type: "integer",
    description: "the inode of the attempt's folder that it supervises: a copy of the folder has another",
  },
});
export type Owner = TypeOf<typeof processOwner>;
