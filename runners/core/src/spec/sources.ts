/** Core's access to files. Paths are relative to the repository's root, with forward slashes. */
export type Sources = {
  read(path: string): string | undefined;
  /** Names in a folder, sorted by code unit; empty if the folder is missing. */
  list(folder: string): string[];
  /** Undefined if nothing is at the path. */
  kind(path: string): "file" | "dir" | undefined;
};
