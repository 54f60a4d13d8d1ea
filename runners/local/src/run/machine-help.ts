// The way out of errors of the machine, by system error code.

const help: Record<string, string> = {
  ENOSPC: "no space left on the disk; free some, or choose another --root, and run again",
  EDQUOT: "the disk quota is used up; free some space, or choose another --root, and run again",
  EROFS: "the file system is read-only; choose another --root",
  EACCES: "permission denied; check who owns the state folder",
  EMFILE: "too many open files; raise the limit (ulimit -n) and run again",
  EIO: "the disk reported an input/output error; check it before running again",
  EEXIST: "the path is a file or a link to nothing, not a folder; remove it, or choose another --root",
  ENOTDIR: "the path is a file, not a folder; choose another --root",
};

/** Node's rm throws these without a code, with only the system's words. */
const words: [string, keyof typeof help][] = [
  ["Read-only file system", "EROFS"],
  ["No space left on device", "ENOSPC"],
  ["Disk quota exceeded", "EDQUOT"],
  ["Input/output error", "EIO"],
];

/** The system's code of an error; undefined for any other error. */
export function systemCode({ code, message }: NodeJS.ErrnoException): string | undefined {
  if (code !== "") return code;
  return words.find(([said]) => message.includes(said))?.[1] ?? code;
}

/** Undefined where only the system's own words are available. */
export function machineHelp(code: string | undefined): string | undefined {
  return code !== undefined && Object.hasOwn(help, code) ? help[code] : undefined;
}
