// Questions with words that a text index keeps whole although they have signs in them: they find
// the texts with the word, never those with a part of it only.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { understood } from '../../src/rag/question/understand.ts';
import { send, startServer, type TestServer } from '../http/support.ts';
import { PARTS, WHOLE_WORDS } from '../support/whole-words.ts';
import { insert } from './retrieval-world.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
  for (const [name, texts] of Object.entries({
    indexed: [...Object.values(WHOLE_WORDS), ...PARTS],
    plain: [...Object.values(WHOLE_WORDS), ...PARTS],
    parts: PARTS,
  })) {
    await server.database.createTable({ name, columns: [{ name: 'body', type: 'TEXT' }] });
    const rows = texts.map((body, at) => ({ event_ts: 1000 + at, members: [at + 1], properties: { body } }));
    await insert(server.database.table(name), rows);
    if (name !== 'plain') await server.database.textIndexes.create(name, { columns: ['body'], language: 'english' });
  }
});
afterAll(() => server.close());

async function ask(table: string, query: string) {
  const { json } = await send(server, 'POST', '/v1/rag/query', { query, table, mode: 'symbolic', rules: [] });
  return json;
}

describe.each(['indexed', 'plain'])('in table %s', (table) => {
  it.each(Object.entries(WHOLE_WORDS))('%s is found', async (word, body) => {
    for (const query of [`What do you know of ${word}?`, `What do you know about ${word}?`, `Who has ${word}?`]) {
      const { all_edges, abstained } = await ask(table, query);
      expect(abstained, query).toBe(false);
      expect(all_edges[0].properties.body, query).toBe(body);
      expect(all_edges[0].why[0], query).toMatch(/^words: /);
    }
  });

  it.each(['55,000', '3,50', 'example.com', '192.168.0.1', "o'neil", 'U.S.A', 'x-ray', 'AT&T'])(
    '%s is counted',
    async (word) => {
      const { answer, computed_by } = await ask(table, `How many edges mention ${word}?`);
      expect(computed_by).toEqual(expect.any(String));
      expect(answer).toMatch(/^1 /);
    },
  );
});

it.each(['55,000', '3,50', 'example.com', '192.168.0.1', '14:30'])('a part of %s is not an answer', async (word) => {
  for (const query of [`What do you know of ${word}?`, `How many edges mention ${word}?`]) {
    const { abstained, all_edges, understood } = await ask('parts', query);
    expect([query, abstained, all_edges]).toEqual([query, true, []]);
    expect(understood.ignored.map(({ text }: { text: string }) => text)).toContain(word);
  }
});

it('numbers that are lists, counts, times or bounds are not words', () => {
  const columns = [{ id: 100, name: 'size', type: 'INTEGER' as const }];
  const questionOf = (query: string) =>
    understood(query, { name: 'notes', columns, named: undefined } as never, 0).question;
  expect(questionOf('node 1,234 with nodes 1,000, 2,000')).toMatchObject({ nodes: [1000, 1234, 2000], keywords: [] });
  expect(questionOf('nodes 3,4 about 3,4')).toMatchObject({ nodes: [3, 4], keywords: ['3,4'] });
  expect(questionOf('top 1,000 edges about node.js')).toMatchObject({ top: 1000, keywords: ['node.js'] });
  expect(questionOf('edges on 2024-01-01 at 14:30')).toMatchObject({ keywords: [] });
  expect(questionOf('size > 1,500 about 1,500')).toMatchObject({
    filters: [{ column: 'size', op: '>', value: 1500 }],
    keywords: ['1,500'],
  });
});
