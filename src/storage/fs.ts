// The port through which storage meets the disk: the few file operations it needs, so that tests can replace the world.

/**
 * An open file. Positions and sizes are bytes. Methods throw (or reject with) errors whose `code` is the system's name:
 * ENOENT, EEXIST, ENOSPC, EIO, ...
 */
export interface FileHandle {
  readonly path: string;
  size(): number;
  /** Synchronous; bytes read, 0 at the end. May read fewer bytes than `target` holds. */
  read(target: Uint8Array, position: number): number;
  /** Bytes written, may be short. `bytes` must stay unchanged until the promise settles. */
  write(bytes: Uint8Array, position: number): Promise<number>;
  /** Synchronous, for a few bytes that only have to reach the page cache; bytes written, may be short. */
  writeNow(bytes: Uint8Array, position: number): number;
  /** fdatasync: the bytes, and the size where it is needed to find them. */
  datasync(): Promise<void>;
  /** fsync. */
  sync(): Promise<void>;
  truncate(size: number): Promise<void>;
  close(): void;
}

/** Whether `name` belongs to the lock whose file is called `lock` in the same directory: the file, its sockets, and drafts of both. */
export function isLockName(name: string, lock: string): boolean {
  return name === lock || name.startsWith(`${lock}.`);
}

export interface FsLock {
  release(): void;
}

/** Paths use `/`. Names made, renamed or removed are durable only after `syncDir` of their directory, those of `makeDir` at once. */
export interface Fs {
  /** `write` = existing file, read and write; `create` fails with EEXIST when it exists. */
  open(path: string, mode: 'read' | 'write' | 'create'): FileHandle;
  exists(path: string): boolean;
  /** What stands at the path itself: a link is not followed. Null: nothing. */
  kindOf(path: string): 'file' | 'directory' | 'link' | 'other' | null;
  /** The absolute path behind every link. Throws ENOENT. */
  realPath(path: string): string;
  /** Names in a directory, sorted by code unit. */
  list(dir: string): string[];
  /** Recursive; nothing happens when it exists; durable when it returns. */
  makeDir(dir: string): void;
  /** Atomic; replaces `to`. */
  rename(from: string, to: string): Promise<void>;
  /** Gives a file a name that must be free: rejects with EEXIST otherwise, never replaces. After a crash it may have both names. */
  renameNew(from: string, to: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** Removes an empty directory. */
  removeDir(dir: string): Promise<void>;
  syncDir(dir: string): Promise<void>;
  /**
   * Rejects with a HedgerowError: `conflict`, naming the holder, when another live process of this host, or this one, holds it; `invalid_input` when
   * the file system cannot keep locks. Beside `path` lie files of the lock, see `isLockName`.
   */
  lock(path: string): Promise<FsLock>;
}
