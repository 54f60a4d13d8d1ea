// The format of owner.json, supervisor.json and leases: the owning process, described so that others can find out
// whether it is still alive.
import * as t from "../schema.ts";

export const processOwner = t.wholeExcept(["table", "machine", "since", "gone", "folder"], {
  host: t.anyText,
  boot: t.about(t.anyText, "of this boot of the machine; containers of one machine share it"),
  pid: { type: "integer" },
  started: t.about(t.anyText, "in the clock ticks of the process table"),
  table: t.about(t.anyText, "the process table (pid namespace) that `pid` is a line of"),
  machine: t.about(t.anyText, "of the installation: two machines of one name differ in it"),
  since: t.about(t.anyText, "by the owner's own clock: for people, never compared"),
  gone: t.about(t.flag, "a person declared its host gone (--take-over): it counts as dead everywhere"),
  folder: t.about(
    { type: "integer" },
    "the inode of the attempt's folder that it supervises: a copy of the folder has another",
  ),
});
export type Owner = t.TypeOf<typeof processOwner>;
