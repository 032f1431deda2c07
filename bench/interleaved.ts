// Times statements, most of them with residual conditions, after COMPACT, after an UPDATE of
// scattered rows (so that rows in memory are interleaved with rows in segments), and after another
// COMPACT.
//
// npx tsx bench/interleaved.ts [rows] [updated]

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../src/engine/index.ts';
import { EmbeddedStatements } from '../src/query/embedded.ts';

const STATEMENTS = [
  'MATCH (e:hyperedges) WHERE e.event_ts % 1000 = 300 RETURN e.id, e.formation',
  'MATCH (e:hyperedges) WHERE e.event_ts % 1000 = 300 RETURN count(*) AS n',
  'MATCH (e:hyperedges) WHERE e.weight * 2 > 1.9 RETURN sum(e.weight) AS s',
  'MATCH (e:hyperedges) RETURN e.id, e.weight ORDER BY e.weight LIMIT 10',
];
const TIMES = 5;
const BATCH = 50_000;

const [rows = 200_000, updated = 20_000] = process.argv.slice(2).map(Number);
const dir = mkdtempSync(join(tmpdir(), 'hedgerow-interleaved-'));
const database = await openDatabase({ dir, durability: 'async' });
const statements = new EmbeddedStatements({ database });

/** Returns the time of the fastest of several runs, in milliseconds. */
async function leastMs(statement: string): Promise<number> {
  let least = Infinity;
  for (let time = 0; time < TIMES; time++) {
    const begunMs = performance.now();
    await statements.run(statement);
    least = Math.min(least, performance.now() - begunMs);
  }
  return least;
}

async function show(when: string): Promise<void> {
  for (const statement of STATEMENTS)
    process.stdout.write(`${when.padEnd(12)} ${(await leastMs(statement)).toFixed(1).padStart(9)} ms  ${statement}\n`);
}

try {
  for (let from = 0; from < rows; from += BATCH) {
    const bulk = database.table().bulk();
    for (let row = from; row < Math.min(rows, from + BATCH); row++)
      bulk.add({
        event_ts: row,
        members: [row % 997, 1000 + (row % 31)],
        properties: { weight: (row % 100) / 100, formation: `f${row % 12}` },
      });
    await bulk.commit();
  }
  await database.compact({});
  await show('compacted');
  await statements.run(`UPDATE hyperedges SET formation = 'changed' WHERE id % ${Math.round(rows / updated)} = 0`);
  await show('updated');
  await database.compact({});
  await show('compacted');
} finally {
  statements.close();
  await database.close();
  rmSync(dir, { recursive: true, force: true });
}
