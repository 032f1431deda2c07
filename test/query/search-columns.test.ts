// Tests that what searches for the best keep of frequent words is counted as memory of segments.

import { expect, test } from 'vitest';
import { EmbeddedStatements } from '../../src/query/embedded.ts';
import { Random } from '../support/random.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';

const ROWS = 30_000;
const WORDS = 24;
const FIND = 'MATCH (n:notes) WHERE search(n, $words) RETURN n.id AS id ORDER BY score(n) DESC LIMIT 3';

test('columns of frequent words are counted as memory of their segments, and no more than 16 are kept', async () => {
  const database = await openSim(simDisk(), { segmentRows: 65_536 });
  const embedded = new EmbeddedStatements({ database });
  await embedded.run('CREATE HYPEREDGE TABLE notes () PROPERTIES (body TEXT)');
  await embedded.run('CREATE TEXT INDEX ON notes (body)');
  const random = new Random(3);
  const bulk = database.table('notes').bulk();
  for (let row = 0; row < ROWS; row++) {
    const body = Array.from({ length: 1 + random.below(9) }, () => `word${random.below(WORDS)}`).join(' ');
    bulk.add({ event_ts: row, members: [1], properties: { body } });
  }
  await bulk.commit();
  await database.compact({});
  const search = (word: number) => embedded.run(FIND, { words: `word${word}` });
  await search(WORDS);
  const { segments } = database.table('notes').version;
  const before = database.figures().residentBytes;
  for (let word = 0; word < WORDS; word++) await search(word);
  const after = database.figures().residentBytes;
  const least = (10 * ROWS) / 2;
  expect(after - before).toBeGreaterThan(least);
  for (let word = 0; word < WORDS; word++) await search(word);
  expect(database.figures().residentBytes).toBe(after);
  expect(after).toBe(
    segments.reduce((sum, segment) => sum + database.table('notes').resident(segment).residentBytes, 0),
  );
  await database.close();
});
