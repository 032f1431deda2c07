// Unix sockets for the directory lock: listens on a socket, and asks the processes that listen on
// others.

import * as fs from 'node:fs';
import * as net from 'node:net';
import { HedgerowError } from '../errors.ts';

export interface LockSocket {
  close(): void;
}

export type Listen = (path: string, describe: () => string) => Promise<LockSocket>;

/**
 * Longer paths are shortened. The system's limit for a socket path is 108 bytes on Linux and 104
 * elsewhere, including the terminating zero.
 */
const MAX_PATH_BYTES = 100;
const ANSWER_MS = 1000;
const MAX_ANSWER_CHARACTERS = 4096;
/** Error codes of bind and listen if the file system or a sandbox does not allow sockets. */
const NO_SOCKETS: readonly unknown[] = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EINVAL', 'EAFNOSUPPORT', 'ENXIO'];
/** Error codes of connect that may also occur if the listener is alive. */
const ALIVE: readonly unknown[] = ['EAGAIN', 'EACCES', 'EPERM', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTCONN'];

/**
 * Listens on a new socket and answers every connection with the current result of `describe`. Does
 * not keep the process alive. Rejects with `invalid_input` if sockets are not available.
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
  server.on('error', () => undefined); // a failure to accept one connection is ignored
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
 * Lets processes of all users connect, which needs write permission, so that they can ask who holds
 * the lock. They can do nothing else with the socket.
 */
function allowAll(path: string): void {
  try {
    fs.chmodSync(path, 0o666);
  } catch {
    // Then processes of other users cannot connect, and conclude that the holder is alive.
  }
}

/**
 * Connects to a socket and resolves with the listener's answer: '' if it does not answer in time or
 * refuses for a reason that does not exclude a live listener, `dead` if nobody listens any more,
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
 * Calls `work` with a path that fits into a socket address: `path` itself or, if it is too long, a
 * path through an open descriptor of the directory.
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
    `The path ${path} is longer than ${MAX_PATH_BYTES} bytes, the maximum for a Unix socket on a system without /proc. Use a shorter data directory.`,
    { fields: { file: path } },
  );
}
