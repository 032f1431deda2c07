// Tests which rows `bestRows` gives as candidates: the k best, and all with the score of the last.

import { afterEach, describe, expect, test } from 'vitest';
import { bestRows, type Database, searchStatistics } from '../../src/engine/index.ts';
import { finish } from '../../src/schedule/steps.ts';
import { analyzerOf, parseSearch } from '../../src/text/index.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';

let database: Database;

afterEach(() => database.close());

/** Opens a table with these texts in segments of up to `segmentRows` rows, and none in memory. */
async function open(segmentRows: number, texts: readonly string[]): Promise<void> {
  database = await openSim(simDisk(), { core: 'release', segmentRows, logFileBytes: 2 ** 24 });
  await database.createTable({ name: 'notes', columns: [{ name: 'body', type: 'TEXT' }] });
  await database.textIndexes.create('notes', { columns: ['body'], language: 'none' });
  for (let from = 0; from < texts.length; from += 1000) {
    const bulk = database.table('notes').bulk();
    for (const [place, body] of texts.slice(from, from + 1000).entries())
      bulk.add({ event_ts: from + place, members: [1], properties: { body } });
    await bulk.commit();
  }
  await database.compact({});
}

/** Returns the candidates of a search by segment, as rows of it. */
function candidates(query: string, k: number): number[][] | undefined {
  const table = database.table('notes');
  const { version, lsn } = table.snapshot();
  const view = { version, lsn, overlay: undefined };
  const columns = [table.columns.find('body')!.id];
  const search = { columns, language: 'none', parts: parseSearch(query, analyzerOf('none')) } as const;
  const found = finish(bestRows(table, view, { search }, finish(searchStatistics(table, view, search)), k));
  return found && version.segments.map((segment) => [...(found.segments.get(segment) ?? [])]);
}

const repeated = (count: number, text: string) => new Array<string>(count).fill(text);

describe('the candidates of the k best', () => {
  test('are k rows if their scores differ, in one segment', async () => {
    await open(2 ** 16, ['a', 'a b', 'a b b', 'a b b b', 'b', 'a a']);
    expect(candidates('a', 2)).toEqual([[0, 5]]);
    expect(candidates('a', 3)).toEqual([[0, 1, 5]]);
    expect(candidates('a', 9)).toEqual([[0, 1, 2, 3, 5]]);
  });

  test('are also those with the score of the last, in whatever segment', async () => {
    await open(2 ** 16, [...repeated(50, 'a b'), 'a a', ...repeated(50, 'b'), ...repeated(50, 'a b')]);
    const [equal, later] = [Array.from({ length: 50 }, (_, row) => row), Array.from({ length: 50 }, (_, i) => 101 + i)];
    expect(candidates('a', 1)).toEqual([[50]]);
    expect(candidates('a', 2)).toEqual([[...equal, 50, ...later]]);
    expect(candidates('b', 10)).toEqual([Array.from({ length: 50 }, (_, i) => 51 + i)]);
  });

  test('leave out the segments without any', async () => {
    await open(1024, [...repeated(3000, 'a b c'), 'a a', ...repeated(1500, 'a b c')]);
    const found = candidates('a', 1)!;
    expect(found.length).toBeGreaterThan(2);
    expect(found.flat()).toHaveLength(1);
  });

  test('are not given if too many have the score of the last', async () => {
    await open(2 ** 16, [...repeated(4100, 'a b'), 'a a']);
    expect(candidates('a', 1)).toEqual([[4100]]);
    expect(candidates('a', 2)).toBeUndefined();
    expect(candidates('a', 10)![0]).toHaveLength(4101);
  });
});
