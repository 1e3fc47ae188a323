/** Directories and their entries, as the control plane tells them. */

/** A name in a directory, and the object that it leads to. */
export interface Entry {
  name: string;
  kind: "file" | "directory";
  /** The group that is home to the object. */
  home: string;
  /** Whether that is another group than the directory's own. */
  branch_point: boolean;
  /** Names in a directory; 0 for a file. */
  entries: number;
  /** Octets of a file's finished blocks; 0 for a directory. */
  length: number;
  mode: number;
  owner: string;
  /** Nanoseconds since 1970, to about a microsecond as a browser counts. */
  mtime_ns: number;
}

export interface Directory {
  path: string;
  home: string;
  entries: Entry[];
  /** Whether there are names behind the last one. */
  more: boolean;
}

export interface FsRequest {
  do: "mkdir" | "create" | "mv" | "rm";
  path: string;
  to?: string;
  recursive?: boolean;
}
