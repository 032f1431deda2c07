// A server and its follower on the same machine: how long a follower needs to start and to catch
// up, how far it is behind while its leader is loaded, and what it costs the leader.

import type { Edge } from './dataset.ts';
import {
  type Kind,
  MAIN,
  measurer,
  OPEN_SETTINGS,
  requestKinds,
  type Server,
  startServer,
  untilReady,
} from './http-load.ts';
import type { PartOptions } from './part.ts';
import { type BenchRow, benchRow } from './row.ts';

/** Edges of one NDJSON request. */
const LINES = 20_000;
/** Time between two measurements of the lag. */
const LAG_EVERY_MS = 20;

export async function runFollow({ tiny, dataset, workspace, note }: PartOptions): Promise<BenchRow[]> {
  const { edges } = dataset;
  const leaderDir = workspace.copy(await workspace.compacted(edges));
  const followerDir = workspace.fresh('follower');
  const bodies = bodiesOf(edges);
  const [insert] = requestKinds(edges, tiny).slice(2) as [Kind];
  dataset.release();
  const leader = await start(leaderDir);
  let follower: Server | undefined;
  try {
    const aloneRate = (await measurer(leader, insert, workspace, tiny)()).rate;
    const begun = performance.now();
    follower = await start(followerDir, leader);
    await untilAt(follower, await headOf(leader));
    const startMs = performance.now() - begun;

    const inserts = await lagWhile(leader, follower, () => measurer(leader, insert, workspace, tiny)());
    const followedRate = inserts.result.rate;
    const imports = await lagWhile(leader, follower, () => importAll(leader, bodies));

    await follower.stop();
    await importAll(leader, bodies);
    const awayAt = performance.now();
    follower = await start(followerDir, leader);
    await untilAt(follower, await headOf(leader));
    const caughtUp = edges.length / ((performance.now() - awayAt) / 1000);
    note(
      `follow: ${inserts.lags.length} and ${imports.lags.length} measurements of the lag; leader, follower and clients share the machine`,
    );
    const at = (lags: readonly number[], share: number) => lags[Math.floor(share * (lags.length - 1))]!;
    return [
      benchRow({
        name: 'start of a follower, from a snapshot',
        unit: 's',
        ours: startMs / 1000,
        target: { oursAtMost: 5 },
      }),
      benchRow({
        name: 'single inserts of a leader with a follower, beside none',
        unit: '/s',
        ours: followedRate,
        peer: aloneRate,
      }),
      benchRow({ name: 'lag while 64 clients insert, p50', unit: 'ms', ours: at(inserts.lags, 0.5) }),
      benchRow({ name: 'lag while 64 clients insert, p99', unit: 'ms', ours: at(inserts.lags, 0.99) }),
      benchRow({ name: 'import of a leader with a follower', unit: 'edges/s', ours: edges.length / imports.seconds }),
      benchRow({ name: 'lag during the import, p50', unit: 'ms', ours: at(imports.lags, 0.5) }),
      benchRow({ name: 'lag during the import, p99', unit: 'ms', ours: at(imports.lags, 0.99) }),
      benchRow({ name: 'catching up, from the start of the follower', unit: 'edges/s', ours: caughtUp }),
    ];
  } finally {
    await follower?.stop();
    await leader.stop();
    workspace.remove(leaderDir);
    workspace.remove(followerDir);
  }
}

async function start(dir: string, leader?: Server): Promise<Server> {
  const follow = leader === undefined ? [] : ['--follow', leader.url];
  const settings = { ...OPEN_SETTINGS };
  const server = await startServer(MAIN, ['serve', '--data', dir, '--port', '0', ...follow], { settings });
  await untilReady(server);
  return server;
}

function bodiesOf(edges: readonly Edge[]): string[] {
  const bodies: string[] = [];
  for (let from = 0; from < edges.length; from += LINES)
    bodies.push(
      edges
        .slice(from, from + LINES)
        .map((edge) => `${JSON.stringify(edge)}\n`)
        .join(''),
    );
  return bodies;
}

async function importAll(server: Server, bodies: readonly string[]): Promise<void> {
  for (const body of bodies) {
    const headers = { 'content-type': 'application/x-ndjson' };
    const answer = await fetch(`${server.url}/v1/hyperedges`, { method: 'POST', headers, body });
    await answer.arrayBuffer();
    if (!answer.ok) throw new Error(`import: ${answer.status}`);
  }
}

async function headOf({ url }: Server): Promise<number> {
  const answer = await fetch(`${url}/v1/tables`);
  await answer.arrayBuffer();
  return Number(answer.headers.get('x-hedgerow-lsn'));
}

/** Resolves when reads of a follower see `lsn`. */
async function untilAt({ url }: Server, lsn: number): Promise<void> {
  for (;;) {
    const answer = await fetch(`${url}/v1/tables`, { headers: { 'x-min-lsn': String(lsn) } });
    await answer.arrayBuffer();
    if (answer.ok) return;
    if (answer.status !== 503) throw new Error(`follower: ${answer.status}`);
  }
}

/**
 * Does some work, and measures meanwhile how long the follower takes to show what its leader shows.
 * The lags are in ascending order.
 */
async function lagWhile<T>(
  leader: Server,
  follower: Server,
  work: () => Promise<T>,
): Promise<{ result: T; seconds: number; lags: readonly number[] }> {
  const lags: number[] = [];
  let isOver = false;
  const measure = async () => {
    do {
      const lsn = await headOf(leader);
      const begun = performance.now();
      await untilAt(follower, lsn);
      lags.push(performance.now() - begun);
      await new Promise((resolve) => setTimeout(resolve, LAG_EVERY_MS));
    } while (!isOver);
  };
  const measured = measure();
  const begun = performance.now();
  const result = await work();
  const seconds = (performance.now() - begun) / 1000;
  isOver = true;
  await measured;
  return { result, seconds, lags: lags.sort((a, b) => a - b) };
}
