// Does each kind of heavy work with a real server, one after the other, and shows how often and how
// long the event loop was held meanwhile, and by which function.
//
// HEDGEROW_BENCH_ONLY=TEXT,TEXT: only the kinds whose names contain one of the texts.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { loadLongTable } from './deadlines.ts';
import { MAIN, OPEN_SETTINGS, untilReady } from './http-load.ts';
import { type Work, worksOf } from './loop-works.ts';
import type { PartOptions } from './part.ts';
import { type BenchRow, benchRow } from './row.ts';

const WATCH = fileURLToPath(new URL('loop-watch.mjs', import.meta.url));
/** Statements that take longer end with 504. */
const TIMEOUT_MS = 6000;
const STEP_MS = 10;
const LONG_MS = 20;

/** A time in which the loop was held, as loop-watch.mjs reports it. */
interface Held {
  readonly wallMs: number;
  /** Without the time in which the thread waited for a processor. */
  readonly heldMs: number;
  /** The calls that took most of the time, the innermost last. */
  readonly path: readonly string[];
  readonly share: number;
}

interface Watched {
  readonly held: readonly Held[];
  readonly slowSteps: readonly { kind: string; tookMs: number }[];
}

export async function runLoop({ tiny, dataset, workspace, note }: PartOptions): Promise<BenchRow[]> {
  const dir = workspace.fresh('loop');
  await loadLongTable(dir, dataset.edges);
  const works = worksOf(dataset.edges, tiny, await isInstalled('@duckdb/node-api'));
  dataset.release();
  const files = workspace.fresh('loop-files');
  const server = await startWatched(dir, files, tiny ? 50 : TIMEOUT_MS);
  const chosen = process.env.HEDGEROW_BENCH_ONLY?.split(',');
  const rows: BenchRow[] = [];
  try {
    for (const work of works) {
      if (!work.needed && chosen?.some((text) => work.name.includes(text)) === false) continue;
      const { watched, statuses, seconds } = await server.watch(work);
      rows.push(...rowsOf(work, watched));
      const text = describe(work, watched, statuses, seconds);
      note(text);
      if (!tiny) console.error(text);
    }
  } finally {
    await server.stop();
    workspace.remove(dir);
    workspace.remove(files);
  }
  return rows;
}

async function isInstalled(name: string): Promise<boolean> {
  return import(name).then(
    () => true,
    () => false,
  );
}

interface WatchedServer {
  watch(work: Work): Promise<{ watched: Watched; statuses: string; seconds: number }>;
  stop(): Promise<void>;
}

/** `files` is the folder of the files that statements and virtual graphs read and write. */
async function startWatched(dir: string, files: string, timeoutMs: number): Promise<WatchedServer> {
  mkdirSync(files);
  const child = spawn(process.execPath, [MAIN, 'serve', '--data', dir, '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    env: {
      PATH: process.env.PATH,
      ...OPEN_SETTINGS,
      HEDGEROW_COPY_ROOT: files,
      HEDGEROW_VIRTUAL_ROOT: files,
      HEDGEROW_QUERY_TIMEOUT_MS: String(timeoutMs),
      NODE_OPTIONS: `--import=${WATCH}`,
    },
  });
  const url = await addressOf(child);
  await untilReady({ url });
  const say = async (message: string) => {
    const answered = once(child, 'message') as Promise<[unknown]>;
    child.send(message);
    return (await answered)[0];
  };
  return {
    async watch({ requests, times = 2 }) {
      await say('begin');
      const statuses = new Map<number, number>();
      const start = performance.now();
      for (let time = 0; time < times; time++)
        for (const request of requests) {
          const status = await send(url, request);
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
        }
      // What the work leaves behind (a commit, a checkpoint) belongs to it.
      await new Promise((resolve) => setTimeout(resolve, 100));
      const seconds = (performance.now() - start) / 1000;
      const texts = [...statuses].map(([status, count]) => (count === 1 ? `${status}` : `${count} x ${status}`));
      return { watched: (await say('end')) as Watched, statuses: texts.join(', '), seconds };
    },
    async stop() {
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let printed = '';
    child.stdout!.on('data', (data: Buffer) => {
      printed += data.toString();
      const found = /http:\/\/[^\s]+/.exec(printed);
      if (found) resolve(found[0]);
    });
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}: ${printed}`)));
  });
}

/**
 * Reads and discards the answer. Resolves with its status, or with 0 if it was cut off: the time
 * limit of the work may end inside a stream.
 */
async function send(url: string, { method, path, headers, body }: Work['requests'][number]): Promise<number> {
  const response = await fetch(url + path, {
    method,
    ...(headers === undefined ? {} : { headers }),
    ...(body === undefined ? {} : { body }),
  });
  if (response.status >= 400 && response.status !== 504)
    console.error(`${path}: ${(await response.text()).slice(0, 300)}`);
  else {
    try {
      for await (const _ of response.body ?? []);
    } catch {
      return 0;
    }
  }
  return response.status;
}

function rowsOf({ name }: Work, { held }: Watched): BenchRow[] {
  const longest = Math.max(0.01, ...held.map(({ heldMs }) => heldMs));
  const target = { oursAtMost: LONG_MS };
  return [benchRow({ name: `loop ${name}: held at a time, longest`, unit: 'ms', ours: longest, target })];
}

function describe({ name }: Work, { held, slowSteps }: Watched, statuses: string, seconds: number): string {
  const over = (ms: number) => held.filter(({ heldMs }) => heldMs > ms);
  const notRun = held.filter(({ heldMs }) => heldMs <= STEP_MS).length;
  const longest = Math.max(0, ...held.map(({ heldMs }) => heldMs));
  const collected = over(STEP_MS).filter(({ path }) => path.at(-1) === '(garbage collector)').length;
  const lines = [
    `loop ${name} (${statuses}, ${seconds.toFixed(1)} s): held over 10 ms ${over(STEP_MS).length} times (${collected} by garbage collection), over 20 ms ${over(LONG_MS).length} times, longest ${longest.toFixed(1)} ms; not run ${notRun} times; slow steps: ${slowText(slowSteps)}`,
  ];
  const byPath = new Map<string, { count: number; longestMs: number; share: number }>();
  for (const { heldMs, path, share } of over(STEP_MS)) {
    const text = path.join(' > ');
    const { count, longestMs } = byPath.get(text) ?? { count: 0, longestMs: 0 };
    byPath.set(text, { count: count + 1, longestMs: Math.max(longestMs, heldMs), share });
  }
  const paths = [...byPath].sort(([, a], [, b]) => b.longestMs - a.longestMs).slice(0, SHOWN_PATHS);
  for (const [text, { count, longestMs, share }] of paths)
    lines.push(`    ${count} x, at most ${longestMs.toFixed(1)} ms, ${(share * 100).toFixed(0)} % in ${text}`);
  return lines.join('\n');
}

const SHOWN_PATHS = 5;

function slowText(steps: Watched['slowSteps']): string {
  const kinds = groupedByKind(steps);
  return [...kinds].map(([kind, of]) => `${kind} ${of.length}`).join(', ') || 'none';
}

function groupedByKind(steps: Watched['slowSteps']): Map<string, Watched['slowSteps'][number][]> {
  const kinds = new Map<string, Watched['slowSteps'][number][]>();
  for (const step of steps) kinds.set(step.kind, [...(kinds.get(step.kind) ?? []), step]);
  return kinds;
}
