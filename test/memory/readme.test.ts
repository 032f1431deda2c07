// Runs the requests and statements of the page about the memory of agents, and checks what it says
// about them.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { send, startServer, type TestServer } from '../http/support.ts';
import { blocksUnder } from '../support/readme-blocks.ts';

const PAGE = 'src/memory/README.md';

let server: TestServer;
beforeEach(async () => {
  server = await startServer();
});
afterEach(() => server.close());

const run = async (query: string) => {
  const { status, json } = await send(server, 'POST', '/v1/query', { query });
  expect([query, status, json.detail]).toEqual([query, 200, undefined]);
  return json;
};

/** Returns the path and the body of each curl line. */
function requestsIn(block: string): [path: string, body: unknown][] {
  return [...block.matchAll(/localhost:8000(\S+) --json '([^']+)'/g)].map(([, path, body]) => [
    path!,
    JSON.parse(body!),
  ]);
}

async function answerAll(): Promise<string[][]> {
  const [block] = blocksUnder(PAGE, 'The same over HTTP', '');
  const answers: string[][] = [];
  for (const [path, body] of requestsIn(block!)) {
    const { status, json } = await send(server, 'POST', path, body);
    expect(status, path).toBeLessThan(300);
    answers.push((json.memories ?? []).map(({ what }: { what: string }) => /([\d,]+) euros/.exec(what)?.[1]));
  }
  return answers;
}

test('the requests find what the page says', async () => {
  expect(await answerAll()).toEqual([[], [], ['55,000'], ['40,000'], ['40,000', '55,000']]);
});

test('a table that is made as the page says holds memories', async () => {
  const [block] = blocksUnder(PAGE, 'What is kept', '');
  for (const statement of block!.trim().split('\n')) await run(statement);
  await answerAll();
});

test('memories are forgotten as the page says', async () => {
  const text = readFileSync(fileURLToPath(new URL(`../../${PAGE}`, import.meta.url)), 'utf8');
  const [, forgetting] = text.split('## How to forget');
  const statements = [...forgetting!.matchAll(/`((?:UPDATE|DELETE FROM|COMPACT|DROP) [^`]+)`/g)].map(
    ([, each]) => each!,
  );
  expect(statements).toHaveLength(6);
  await answerAll();
  await send(server, 'POST', '/v1/memory/remember', { what: 'Lunch is at noon.', about: ['canteen'], when: 100 });
  const [end, remove, compact, removeNode, ...drops] = statements;
  await run(end!.replace('id = 1', 'id = 3'));
  const ends = await run('MATCH (m:memories) WHERE m.id = 3 RETURN m.end_ts');
  expect(Object.values(ends.rows[0])).toEqual([Date.UTC(2024, 5, 1) / 1000]);
  await run(remove!);
  await run(remove!.replace('id = 1', 'id = 2'));
  await run(compact!);
  const { json } = await send(server, 'POST', '/v1/memory/history', { about: ['project Orion'] });
  expect(json.memories).toEqual([]);
  await run(removeNode!);
  expect((await send(server, 'GET', '/v1/nodes/things/Ada')).status).toBe(404);
  const old = { table: 'memories', ttl_seconds: 3600 };
  expect((await send(server, 'POST', '/v1/hyperedges/compact', old)).json.edges_dropped).toBe(1);
  for (const drop of drops) await run(drop);
  expect((await send(server, 'GET', '/v1/tables')).json).toHaveLength(1);
});
