// The interface between storage and the disk: the few file operations that storage needs. Tests can
// substitute a simulated file system.

/**
 * An open file. Positions and sizes are in bytes. Methods throw (or reject with) errors whose
 * `code` is the system error name: ENOENT, EEXIST, ENOSPC, EIO, ...
 */
export interface FileHandle {
  readonly path: string;
  size(): number;
  /**
   * Reads synchronously. Returns the number of bytes read, which may be less than `target.length`;
   * 0 at the end of the file.
   */
  read(target: Uint8Array, position: number): number;
  /**
   * Resolves with the number of bytes written, which may be less than `bytes.length`. `bytes` must
   * not change until the promise settles.
   */
  write(bytes: Uint8Array, position: number): Promise<number>;
  /**
   * Does what `write` and then `datasync` do to these bytes, if possible in one call. It may leave
   * bytes that were written before as they are: not durable.
   */
  writeDurably(bytes: Uint8Array, position: number): Promise<number>;
  /**
   * Writes synchronously; for a few bytes that only need to reach the page cache. Returns the
   * number of bytes written, which may be less than `bytes.length`.
   */
  writeNow(bytes: Uint8Array, position: number): number;
  /** fdatasync: makes the data durable, and the file size if that is needed to read the data. */
  datasync(): Promise<void>;
  /** fsync: makes the data and all metadata durable. */
  sync(): Promise<void>;
  truncate(size: number): Promise<void>;
  close(): void;
}

/**
 * Returns whether `name` belongs to the lock whose file is named `lock` in the same directory:
 * whether it is the lock file itself, a socket of the lock, or a temporary file.
 */
export function isLockName(name: string, lock: string): boolean {
  return name === lock || name.startsWith(`${lock}.`);
}

export interface FsLock {
  release(): void;
}

/**
 * File system operations. Paths use `/`. The creation, renaming or removal of a file is durable
 * only after `syncDir` on its directory. A new directory is durable when `makeDir` returns.
 */
export interface Fs {
  /**
   * `write` opens an existing file for reading and writing; `create` fails with EEXIST if the file
   * exists.
   */
  open(path: string, mode: 'read' | 'write' | 'create'): FileHandle;
  exists(path: string): boolean;
  /**
   * Returns the type of the entry at the path itself, without following a symbolic link; null if
   * there is no entry.
   */
  kindOf(path: string): 'file' | 'directory' | 'link' | 'other' | null;
  /** Returns the absolute path with every symbolic link resolved. Throws ENOENT. */
  realPath(path: string): string;
  /** Returns the names in a directory, sorted by code unit. */
  list(dir: string): string[];
  /**
   * Creates a directory and its missing parents; does nothing if the directory exists. The
   * directory is durable when this returns.
   */
  makeDir(dir: string): void;
  /** Renames a file atomically; replaces `to` if it exists. */
  rename(from: string, to: string): Promise<void>;
  /**
   * Renames a file to a name that must be unused: rejects with EEXIST if `to` exists, and never
   * replaces a file. After a crash the file may have both names.
   */
  renameNew(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** Removes an empty directory. */
  removeDir(dir: string): Promise<void>;
  syncDir(dir: string): Promise<void>;
  /**
   * Takes the lock at `path`. Rejects with `conflict`, with a message that names the holder, if
   * this process or another live process on this host holds the lock. Rejects with `invalid_input`
   * if the file system does not support locks. There are more files of the lock next to `path`; see
   * `isLockName`.
   */
  lock(path: string): Promise<FsLock>;
}
