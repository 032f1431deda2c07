// Sends real files through the service: `hedgerow import` loads each file into a running server,
// and answers about windows and nodes over HTTP are compared with a brute-force reading of the
// file. This is done with the rows in the log, after a compaction and after a restart. With
// `HEDGEROW_FULL_DATA=1`, the larger files are tested too, with 1,000 questions of each kind.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { type ChildServer, MAIN, startChild } from '../service/child.ts';
import { Random } from '../support/random.ts';

const DATA = join(process.env.HEDGEROW_SHARED ?? fileURLToPath(new URL('../../../shared', import.meta.url)), 'data');
const FULL = process.env.HEDGEROW_FULL_DATA === '1';
const COUNT = FULL ? 1000 : 60;
const FILES = ['email-Enron', 'contact-primary-school'];
const LARGER = ['threads-ask-ubuntu', 'email-Eu', 'stackexchange-mix'];

interface Edge {
  event_ts: number;
  members: number[];
}

const servers: ChildServer[] = [];
const dirs: string[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true });
});

/** Starts the service over a directory, without keys. */
async function serve(dir: string): Promise<ChildServer> {
  const server = await startChild({ dir, environment: { HEDGEROW_AUTH_DISABLED: '1' } });
  servers.push(server);
  return server;
}

async function rows(url: string): Promise<string> {
  // The server closes a connection that has been idle for 10 s. Comparing a whole file keeps this
  // process busy for longer than that, so the request is retried once.
  const response = await fetch(url).catch(() => fetch(url));
  const answer = (await response.json()) as { hyperedges: Edge[]; num_tuples: number };
  expect(answer.num_tuples).toBe(answer.hyperedges.length);
  return answer.hyperedges.map(({ event_ts, members }) => `${event_ts}:${members}`).join('\n');
}

function textOf(edges: readonly Edge[]): string {
  return edges.map(({ event_ts, members }) => `${event_ts}:${members}`).join('\n');
}

/** Compares the whole range, random windows and random nodes with a reading of the file. */
async function compare(url: string, edges: readonly Edge[], byNode: ReadonlyMap<number, Edge[]>, seed: number) {
  const random = new Random(seed);
  const first = edges[0]!.event_ts;
  const span = edges.at(-1)!.event_ts - first;
  expect(await rows(`${url}/v1/hyperedges?start_ts=${first}&end_ts=${first + span}`)).toBe(textOf(edges));
  const nodes = [...byNode.keys()];
  for (let i = 0; i < COUNT; i++) {
    const start = first + random.below(span + 1);
    const end = start + random.below(Math.ceil(span / 200) + 1);
    const inside = edges.filter(({ event_ts }) => event_ts >= start && event_ts <= end);
    expect(await rows(`${url}/v1/hyperedges?start_ts=${start}&end_ts=${end}`)).toBe(textOf(inside));
    const node = nodes[random.below(nodes.length)]!;
    expect(await rows(`${url}/v1/hyperedges/node/${node}`)).toBe(textOf(byNode.get(node)!));
  }
}

for (const name of FULL ? [...FILES, ...LARGER] : FILES) {
  test(`${name} over HTTP gives the same rows as the file`, { timeout: 600_000 }, async (context) => {
    const path = join(DATA, `${name}.ndjson.gz`);
    if (!existsSync(path)) {
      console.log(`skipped: ${path} is absent (HEDGEROW_SHARED sets the path of the shared folder)`);
      context.skip();
    }
    const edges: Edge[] = gunzipSync(readFileSync(path))
      .toString()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const byNode = new Map<number, Edge[]>();
    for (const edge of edges) {
      for (const node of edge.members) {
        const list = byNode.get(node);
        if (list) list.push(edge);
        else byNode.set(node, [edge]);
      }
    }
    const dir = mkdtempSync(join(tmpdir(), 'hedgerow-real-'));
    dirs.push(dir);
    const first = await serve(dir);
    const { url } = first;
    const imported = spawnSync(process.execPath, [MAIN, 'import', path, '--url', url], { encoding: 'utf8' });
    expect(imported.status, imported.stderr).toBe(0);
    await compare(url, edges, byNode, 1);
    const body = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' };
    expect((await fetch(`${url}/v1/hyperedges/compact`, body)).status).toBe(200);
    await compare(url, edges, byNode, 2);
    expect(await first.stop()).toBe('exit code 0');
    const second = await serve(dir);
    await compare(second.url, edges, byNode, 3);
  });
}
