// Tests what EXPLAIN estimates for searches, and that the rarest condition finds the rows first.

import { describe, expect, test } from 'vitest';
import { TextBlock } from '../../src/core/index.ts';
import type { Database } from '../../src/engine/index.ts';
import { EmbeddedStatements } from '../../src/query/embedded.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';

interface Node {
  readonly operator: string;
  readonly estimated_rows: number;
  readonly search?: string;
  readonly children?: readonly Node[];
}

async function opened() {
  const database = await openSim(simDisk(), { segmentRows: 256, logFileBytes: 2 ** 20, textPieceRows: 128 });
  const embedded = new EmbeddedStatements({ database });
  const run = async (text: string) => (await embedded.run(text)).rows;
  await run('CREATE HYPEREDGE TABLE notes () PROPERTIES (body TEXT)');
  await run('CREATE TEXT INDEX ON notes (body)');
  /** Returns the estimates of the scans of a plan, in its order. */
  const scansOf = async (match: string): Promise<number[]> => {
    const [{ plan }] = (await run(`EXPLAIN ${match}`)) as unknown as [{ plan: Node }];
    const scans = (node: Node): number[] =>
      node.search === undefined ? (node.children ?? []).flatMap(scans) : [node.estimated_rows];
    return scans(plan);
  };
  const estimate = async (query: string, rest = '') =>
    (await scansOf(`MATCH (n:notes) WHERE search(n, '${query}') ${rest} RETURN n.id AS id`))[0];
  return { database, run, scansOf, estimate };
}

/** Of each 100 rows: all have `all`, ten a `dozen`, one `rare` and `rarely`. Ten have node 7. */
async function insert(database: Database, count: number): Promise<void> {
  const bulk = database.table('notes').bulk();
  for (let row = 0; row < count; row++) {
    const body = `all${row % 10 === 0 ? ' dozen' : ''}${row % 100 === 50 ? ' rare rarely' : ''}`;
    bulk.add({ event_ts: row, members: [1, row % 10 === 3 ? 7 : 8, 100 + row], properties: { body } });
  }
  await bulk.commit();
}

describe('the estimate of a search', () => {
  test('is the number of rows with its words, from the text blocks', async () => {
    const { database, run, estimate } = await opened();
    await insert(database, 1000);
    const expected = async (what: string) => {
      const found = [
        await estimate('rare'),
        await estimate('rare dozen'),
        await estimate('+dozen +all rare'),
        await estimate('"all dozen"'),
        await estimate('rar*'),
        await estimate('all -rare'),
        await estimate('nothing'),
        await estimate('dozen', 'AND n.event_ts < 500'),
      ];
      // Segments that are not in memory are taken to be like the others.
      for (const [place, rows] of [10, 110, 100, 100, 20, 1000, 0, 50].entries()) {
        expect(found[place], `${what}, ${place}`).toBeGreaterThanOrEqual(rows * 0.97);
        expect(found[place], `${what}, ${place}`).toBeLessThanOrEqual(rows * 1.03);
      }
    };
    // Nothing is known of rows in memory before the first search.
    expect(await estimate('rare')).toBe(1000);
    await run("MATCH (n:notes) WHERE search(n, 'rare') RETURN COUNT(*) AS n");
    await expected('in memory');
    await database.compact({});
    await expected('compacted');
    // Without blocks, rows in memory are taken to be like those of segments.
    await insert(database, 100);
    expect(await estimate('dozen')).toBeCloseTo(110, -1);
    await database.close();
  });

  test('decides which side of a join comes first', async () => {
    const { database, scansOf } = await opened();
    await insert(database, 1000);
    await database.compact({});
    const where = (a: string, b: string) =>
      `MATCH (a:notes), (b:notes) WHERE search(a, '${a}') AND search(b, '${b}') AND shared(a, b) >= 1 RETURN a.id AS a, b.id AS b`;
    expect(await scansOf(where('dozen', 'rare'))).toEqual([10, expect.closeTo(100, -1)]);
    expect(await scansOf(where('rare', 'dozen'))).toEqual([10, expect.closeTo(100, -1)]);
    await database.close();
  });
});

test('a node or a time of few rows is looked up, and the words are judged from their texts', async () => {
  const { database, run } = await opened();
  const { query } = TextBlock.prototype;
  let queries = 0;
  TextBlock.prototype.query = function (this: TextBlock, parts) {
    queries++;
    return query.call(this, parts);
  };
  const count = async (where: string) => {
    queries = 0;
    const [{ n }] = (await run(`MATCH (n:notes) WHERE search(n, 'dozen rare') AND ${where} RETURN COUNT(*) AS n`)) as [
      { n: number },
    ];
    return [n, queries > 0];
  };
  try {
    await insert(database, 1000);
    for (const state of ['in memory', 'compacted']) {
      if (state === 'compacted') await database.compact({});
      expect(await count('110 IN n.members'), state).toEqual([1, false]);
      expect(await count('109 IN n.members'), state).toEqual([0, false]);
      expect(await count('8 IN n.members'), state).toEqual([100, true]);
    }
    expect(await count('n.event_ts BETWEEN 40 AND 60')).toEqual([3, false]);
    expect(await count('n.event_ts BETWEEN 40 AND 160')).toEqual([13, true]);
  } finally {
    TextBlock.prototype.query = query;
  }
  await database.close();
});
