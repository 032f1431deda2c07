// The only module that uses pino: makes JSON lines from levels and fields, and opens files or pipes
// for writing in the background.

import pino from 'pino';
import type { Destination, DestinationListener } from './line-sink.ts';

export type PinoLogger = pino.Logger;

/** A stream with this property asks pino to set `lastLevel` to the level of each line. */
const METADATA = Symbol.for('pino.metadata');
const WARN = 40;
const CLOSE_MS = 1000;
/** The wait before the next write to a full pipe doubles with each failed attempt. */
const LEAST_WAIT_MS = 1;
const MOST_WAIT_MS = 64;
/**
 * Maximum number of attempts, 100 ms apart, to write to a full pipe while the process exits. The
 * second constant limits consecutive attempts during which the reader takes nothing.
 */
const LAST_TRIES = 30;
const LAST_TRIES_IN_VAIN = 5;

export interface PinoOptions {
  level: string;
  timestamp: () => string;
  /** Receives each line with its line break; `urgent` is true at level warn and above. */
  write: (line: string, urgent: boolean) => void;
}

/**
 * Creates a logger that formats lines as `{"level":"info","ts":"...",<fields>,"msg":"..."}`,
 * without process id and host name.
 */
export function pinoLogger({ level, timestamp, write }: PinoOptions): PinoLogger {
  const stream = {
    [METADATA]: true,
    lastLevel: 0,
    write(line: string) {
      write(line, this.lastLevel >= WARN);
    },
  };
  return pino(
    {
      level,
      base: null,
      timestamp: () => `,"ts":"${timestamp()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: {},
    },
    stream,
  );
}

/**
 * Opens a file for appending. Creates a missing file with mode 0600, and missing folders. Throws if
 * the file cannot be opened.
 */
export function openFile(file: string, listener: DestinationListener): Destination {
  // Only a synchronous open throws, so the file is first opened synchronously and then closed.
  // The handle that is kept is opened in the background.
  appendTo(file, true, NEVER).destroy();
  return background(file, listener);
}

/** Opens standard output (1) or standard error (2) for writing in the background. */
export function openStandard(descriptor: 1 | 2, listener: DestinationListener): Destination {
  // Node puts a pipe into non-blocking mode when it creates the stream for it. A write to a full
  // blocking pipe would occupy a thread of the pool forever, and keep the process from exiting.
  const stream = descriptor === 1 ? process.stdout : process.stderr;
  return background(stream.fd, listener);
}

/**
 * Called when a write would block. If it returns true, the stream sleeps 100 ms and retries by
 * itself.
 */
type MayRetry = (error: Error, leftBytes: number) => boolean;

const NEVER: MayRetry = () => false;

function appendTo(target: string | number, sync: boolean, mayRetry: MayRetry) {
  return pino.destination({
    dest: target,
    sync,
    append: true,
    mkdir: true,
    mode: 0o600,
    minLength: 0,
    retryEAGAIN: mayRetry,
  });
}

function background(target: string | number, listener: DestinationListener): Destination {
  let isOpen = typeof target === 'number';
  let ending = false;
  let mayRetry = NEVER;
  let waitMs = LEAST_WAIT_MS;
  let lastError: Error | undefined;
  const stream = appendTo(target, false, (error, leftBytes) => mayRetry(error, leftBytes));
  const goOn = (): void => {
    if (!ending) stream.write('');
  };
  stream.on('ready', () => {
    isOpen = true;
  });
  stream.on('write', () => {
    waitMs = LEAST_WAIT_MS;
  });
  stream.on('drain', () => listener.done());
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // pino emits its first error twice.
    if (ending || error === lastError) return;
    lastError = error;
    if (error.code === 'EAGAIN') {
      setTimeout(goOn, waitMs).unref();
      waitMs = Math.min(waitMs * 2, MOST_WAIT_MS);
    } else {
      listener.failed(error);
    }
  });
  return {
    write: (text) => {
      try {
        stream.write(text);
      } catch (error) {
        listener.failed(error as Error);
      }
    },
    writeSync: (text) => {
      ending = true;
      mayRetry = lastTries();
      if (isOpen) stream.flushSync();
      if (text !== '') writeNow(target, text);
    },
    reopen: () => stream.reopen(),
    close: () =>
      new Promise((resolve) => {
        ending = true;
        const timer = setTimeout(resolve, CLOSE_MS);
        stream.once('close', () => {
          clearTimeout(timer);
          resolve();
        });
        stream.destroy();
      }),
  };
}

/**
 * Writes `text` before returning, through a separate handle: the handle for writing in the
 * background cannot write synchronously.
 */
function writeNow(target: string | number, text: string): void {
  let failure: Error | undefined;
  const stream = appendTo(target, true, lastTries());
  stream.on('error', (error: Error) => {
    failure = error;
  });
  stream.write(text);
  stream.destroy();
  if (failure !== undefined) throw failure;
}

function lastTries(): MayRetry {
  let tries = 0;
  let inVain = 0;
  let last = Number.POSITIVE_INFINITY;
  return (_error, leftBytes) => {
    tries += 1;
    inVain = leftBytes < last ? 0 : inVain + 1;
    last = leftBytes;
    return tries < LAST_TRIES && inVain < LAST_TRIES_IN_VAIN;
  };
}
