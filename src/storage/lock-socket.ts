// Unix sockets of the directory lock: listening on one, and querying the listener of another.

import * as fs from 'node:fs';
import * as net from 'node:net';
import { HedgerowError } from '../errors.ts';

export interface LockSocket {
  close(): void;
}

export type Listen = (path: string, describe: () => string) => Promise<LockSocket>;

/**
 * A socket path is limited to 108 bytes on Linux and 104 elsewhere, including the terminating zero.
 */
const MAX_PATH_BYTES = 100;
const ANSWER_MS = 1000;
const MAX_ANSWER_CHARACTERS = 4096;
/** Error codes of bind and listen where the file system or a sandbox does not allow sockets. */
const NO_SOCKETS: readonly unknown[] = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EINVAL', 'EAFNOSUPPORT', 'ENXIO'];
/** Error codes of connect for a socket that may have a live listener. */
const ALIVE: readonly unknown[] = ['EAGAIN', 'EACCES', 'EPERM', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTCONN'];

/**
 * Answers every connection with the current result of `describe`. Does not keep the process alive.
 * Rejects with `invalid_input` where sockets are not available.
 */
export async function listenOn(
  path: string,
  describe: () => string,
  bind: (server: net.Server, path: string) => Promise<void> = listening,
): Promise<LockSocket> {
  const server = net.createServer((socket) => {
    socket.unref();
    socket.on('error', () => socket.destroy());
    socket.end(describe(), () => socket.destroy());
  });
  server.unref();
  try {
    await withShortPath(path, (short) => bind(server, short));
  } catch (error) {
    throw NO_SOCKETS.includes((error as NodeJS.ErrnoException).code) ? withoutSockets(path, error) : error;
  }
  server.on('error', () => undefined); // failure to accept one connection
  allowAll(path);
  return { close: () => void server.close() };
}

function listening(server: net.Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
}

function withoutSockets(path: string, cause: unknown): HedgerowError {
  const dir = path.slice(0, path.lastIndexOf('/'));
  return new HedgerowError(
    'invalid_input',
    `No Unix socket can be made in ${dir} (${(cause as NodeJS.ErrnoException).code}), and without one two processes could open this directory at once. Use a directory on a local file system (ext4, xfs, btrfs, tmpfs), and allow Unix sockets where a sandbox forbids them.`,
    { cause, fields: { file: path } },
  );
}

/**
 * Connecting needs write permission, and a process of another user must be able to ask. It can only
 * read who holds the lock.
 */
function allowAll(path: string): void {
  try {
    fs.chmodSync(path, 0o666);
  } catch {
    // Other users are then refused when they connect and take the holder to be alive.
  }
}

/**
 * The listener's answer, '' if it does not answer in time; `dead` if nobody listens any more;
 * `gone` if the socket does not exist.
 */
export function askSocket(path: string): Promise<string> {
  return withShortPath(path, (short) => {
    return new Promise<string>((resolve, reject) => {
      let text = '';
      let connected = false;
      const socket = net.connect(short, () => {
        connected = true;
      });
      socket.setEncoding('utf8');
      socket.setTimeout(ANSWER_MS, () => socket.destroy());
      socket.on('data', (chunk: string) => {
        text += chunk;
        if (text.length > MAX_ANSWER_CHARACTERS) socket.destroy();
      });
      socket.on('error', (error: NodeJS.ErrnoException) => {
        if (connected || ALIVE.includes(error.code)) resolve('');
        else if (error.code === 'ECONNREFUSED') resolve('dead');
        else if (error.code === 'ENOENT') resolve('gone');
        else reject(error);
      });
      socket.on('close', () => resolve(text));
    });
  });
}

/**
 * Calls `work` with a path that fits a socket address: through a descriptor of the directory if the
 * path itself is too long.
 */
async function withShortPath<T>(path: string, work: (short: string) => Promise<T>): Promise<T> {
  if (Buffer.byteLength(path) <= MAX_PATH_BYTES) return work(path);
  const slash = path.lastIndexOf('/');
  const descriptor = fs.openSync(path.slice(0, slash), 'r');
  try {
    if (!fs.existsSync(`/proc/self/fd/${descriptor}`)) throw tooLong(path);
    return await work(`/proc/self/fd/${descriptor}${path.slice(slash)}`);
  } finally {
    fs.closeSync(descriptor);
  }
}

function tooLong(path: string): HedgerowError {
  return new HedgerowError(
    'invalid_input',
    `The path ${path} is longer than ${MAX_PATH_BYTES} bytes, the most that a Unix socket has room for on a system without /proc. Use a shorter data directory.`,
    { fields: { file: path } },
  );
}
