// The port between storage and the disk: the few file operations that storage needs, so that tests
// can substitute a simulated file system.

/**
 * An open file. Positions and sizes are in bytes. Methods throw (or reject with) errors whose
 * `code` is the system error name: ENOENT, EEXIST, ENOSPC, EIO, ...
 */
export interface FileHandle {
  readonly path: string;
  size(): number;
  /**
   * Synchronous. Returns the number of bytes read, 0 at end of file; it may be less than
   * `target.length`.
   */
  read(target: Uint8Array, position: number): number;
  /**
   * Resolves to the number of bytes written, which may be short. `bytes` must not change until the
   * promise settles.
   */
  write(bytes: Uint8Array, position: number): Promise<number>;
  /**
   * Synchronous, for a few bytes that only have to reach the page cache. Returns the number of
   * bytes written, which may be short.
   */
  writeNow(bytes: Uint8Array, position: number): number;
  /** fdatasync: makes the data durable, and the file size if it is needed to read the data back. */
  datasync(): Promise<void>;
  /** fsync: the data and all metadata. */
  sync(): Promise<void>;
  truncate(size: number): Promise<void>;
  close(): void;
}

/**
 * Whether `name` belongs to the lock whose file is named `lock` in the same directory: the lock
 * file itself, its sockets, or temporary files of either.
 */
export function isLockName(name: string, lock: string): boolean {
  return name === lock || name.startsWith(`${lock}.`);
}

export interface FsLock {
  release(): void;
}

/**
 * Paths use `/`. Creating, renaming or removing a name is durable only after `syncDir` on its
 * directory; `makeDir` is durable when it returns.
 */
export interface Fs {
  /**
   * `write` opens an existing file for reading and writing; `create` fails with EEXIST if the file
   * exists.
   */
  open(path: string, mode: 'read' | 'write' | 'create'): FileHandle;
  exists(path: string): boolean;
  /**
   * Type of the entry at the path itself, without following a symbolic link; null if there is none.
   */
  kindOf(path: string): 'file' | 'directory' | 'link' | 'other' | null;
  /** The absolute path with every symbolic link resolved. Throws ENOENT. */
  realPath(path: string): string;
  /** Names in a directory, sorted by code unit. */
  list(dir: string): string[];
  /** Recursive; does nothing if the directory exists; durable when it returns. */
  makeDir(dir: string): void;
  /** Atomic; replaces `to`. */
  rename(from: string, to: string): Promise<void>;
  /**
   * Renames a file to a name that must be unused: rejects with EEXIST otherwise, never replaces.
   * After a crash the file may have both names.
   */
  renameNew(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** Removes an empty directory. */
  removeDir(dir: string): Promise<void>;
  syncDir(dir: string): Promise<void>;
  /**
   * Rejects with a HedgerowError: `conflict`, naming the holder, if this process or another live
   * process on this host holds the lock; `invalid_input` if the file system cannot support locks.
   * The lock keeps further files next to `path`, see `isLockName`.
   */
  lock(path: string): Promise<FsLock>;
}
