// Where backups are kept: a folder, as a volume mounts it, or an S3-compatible bucket. A file
// appears there only once it is whole.

export interface Place {
  /** Also compares what arrived. Rejects, and leaves no such file, when `content` does. */
  write(name: string, content: AsyncIterable<Uint8Array>): Promise<void>;
  /** Names of the files below a folder's name, in order; all files for "". */
  names(folder: string): Promise<readonly string[]>;
  read(name: string): AsyncIterable<Uint8Array>;
  remove(name: string): Promise<void>;
}

/** A file can't be written, listed or read; `message` says where, why, and what to do. */
export class PlaceFailed extends Error {
  override readonly name = "PlaceFailed";
}
