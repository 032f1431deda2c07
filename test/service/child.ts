// Runs the built service (`node dist/main.js serve`) as a separate process with its own directory,
// and watches that process.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/** An invented first admin key in the usual form. */
export const ADMIN_KEY = 'hgr_service-tests-0123456789abcdefghijklmnop';

export interface ChildOptions {
  /** The data directory. By default, a new directory is created and removed at the end. */
  dir?: string;
  environment?: Readonly<Record<string, string>>;
  flags?: readonly string[];
}

export interface ChildServer {
  readonly url: string;
  readonly port: number;
  readonly dir: string;
  readonly process: ChildProcess;
  /** Everything printed so far. */
  readonly output: { out: string; error: string };
  /** How the process ended, such as `exit code 0` or `signal SIGKILL`; undefined while it runs. */
  readonly ended: string | undefined;
  /**
   * Sends a signal (by default SIGTERM), waits for the end of the process and returns how it ended.
   * Removes the directory if it was created for this process.
   */
  stop(signal?: NodeJS.Signals): Promise<string>;
}

export interface Run {
  readonly output: { out: string; error: string };
  readonly code: number | null;
}

/**
 * Environment variables that the child inherits: the transport and the number of workers that all
 * tests use, a second
 * location of packages (for another version of uWebSockets.js), and what counts slow steps.
 */
const PASSED_ON = Object.fromEntries(
  ['HEDGEROW_TRANSPORT', 'HEDGEROW_WORKERS', 'NODE_PATH', 'NODE_OPTIONS', 'HEDGEROW_TEST_SLOW_STEPS'].flatMap((name) =>
    process.env[name] === undefined ? [] : [[name, process.env[name]]],
  ),
) as Readonly<Record<string, string>>;

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** Starts the service. Resolves once `/health/ready` answers with 200. */
export async function startChild(options: ChildOptions = {}): Promise<ChildServer> {
  const dir = options.dir ?? (await mkdtemp(join(tmpdir(), 'hedgerow-service-')));
  const child = launch(['serve', '--data', dir, '--port', '0', ...(options.flags ?? [])], {
    HEDGEROW_API_KEY: ADMIN_KEY,
    HEDGEROW_RATE_LIMIT_QPM: '0',
    ...options.environment,
  });
  const output = collect(child);
  let ended: string | undefined;
  const exit = new Promise<string>((resolve) => {
    child.once('close', (code, signal) => {
      ended = signal === null ? `exit code ${code}` : `signal ${signal}`;
      resolve(ended);
    });
  });
  const { url, port } = await new Promise<{ url: string; port: number }>((resolve, reject) => {
    child.stdout!.on('data', () => {
      const match = /listening on (https?:\/\/\S+?:(\d+))\s/.exec(output.out);
      if (match !== null) resolve({ url: match[1]!, port: Number(match[2]) });
    });
    void exit.then((how) => reject(new Error(`the service ended (${how}): ${output.error}`)));
  });
  if (url.startsWith('http:')) await untilReady(url, () => ended);
  return {
    url,
    port,
    dir,
    process: child,
    output,
    get ended() {
      return ended;
    },
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal);
      const how = await exit;
      if (options.dir === undefined) await rm(dir, { recursive: true, force: true });
      return how;
    },
  };
}

/** Runs a command of the built program until it ends. */
export async function runCommand(
  parameters: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Run> {
  const child = launch(parameters, environment);
  const output = collect(child);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { output, code };
}

function launch(parameters: readonly string[], environment: Readonly<Record<string, string>>): ChildProcess {
  const child = spawn(process.execPath, [MAIN, ...parameters], {
    env: { PATH: process.env.PATH ?? '', ...PASSED_ON, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  child.once('close', () => running.delete(child));
  return child;
}

function collect(child: ChildProcess): ChildServer['output'] {
  const output = { out: '', error: '' };
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    output.out += text;
  });
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    output.error += text;
  });
  return output;
}

async function untilReady(url: string, ended: () => string | undefined): Promise<void> {
  while (ended() === undefined) {
    const answer = await fetch(`${url}/health/ready`);
    await answer.arrayBuffer();
    if (answer.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`the service ended before it was ready (${ended()})`);
}
