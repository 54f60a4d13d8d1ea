/** What `read` returns; undefined where it throws: a missing, torn or foreign file counts as none. */
export function ifReadable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
