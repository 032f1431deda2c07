// Measures statements of 100 KB that are built to slow down the parser and binder. The figure for
// each is the longest stretch that blocks the event loop, in CPU time of the process.

import { Statements } from '../dist/query/statements.js';
import { nodeFs } from '../dist/storage/node-fs.js';
import { type LargeText, largeTexts } from '../test/query/large-texts.ts';
import { median } from './measure.ts';
import type { PartOptions } from './part.ts';
import { type BenchRow, benchRow } from './row.ts';
import { loadHedgerow } from './stores.ts';

const ROUNDS = 5;
const STRETCH_MS = 50;
const COLUMNS = 200;
const EDGES = 4000;

export async function runTexts({ tiny, dataset, workspace }: PartOptions): Promise<BenchRow[]> {
  const dir = workspace.fresh('texts');
  // Few edges, because only the texts should be large.
  const database = await loadHedgerow(dir, dataset.edges.slice(0, EDGES));
  // Many columns, so that a misspelt name has many candidates to suggest.
  for (let i = 0; i < COLUMNS; i++)
    await database.alterTable('hyperedges', { kind: 'addColumn', column: { name: `weight_${i}`, type: 'REAL' } });
  const statements = new Statements({
    database,
    now: () => 0,
    nowUs: () => performance.now() * 1000,
    newId: () => 'bench',
    transactionIdleSeconds: 30,
    copyRoot: undefined,
    fs: nodeFs,
  });
  const rows: BenchRow[] = [];
  const texts = largeTexts();
  // The first round is a warm-up.
  const taken: number[][] = texts.map(() => []);
  for (let round = 0; round < (tiny ? 1 : ROUNDS); round++)
    for (const [place, text] of texts.entries())
      taken[place]!.push(
        Math.max(await stretch(statements, text, ''), await stretch(statements, text, `EXPLAIN /*${round}*/ `)),
      );
  for (const [place, { name }] of texts.entries())
    rows.push(
      benchRow({
        name: `${name}: the longest stretch`,
        unit: 'ms',
        ours: Math.max(0.01, median(taken[place]!.slice(tiny ? 0 : 1))),
        target: { oursAtMost: STRETCH_MS },
      }),
    );
  statements.close();
  await database.close();
  workspace.remove(dir);
  return rows;
}

/**
 * Returns the CPU milliseconds of the longest stretch between two event loop turns. `form` is put
 * before the text. A prefix not used before makes it a new text, about which nothing is cached.
 */
async function stretch(statements: Statements, { text, parameters = {} }: LargeText, form: string): Promise<number> {
  let longest = 0;
  const timed = <T>(work: () => T): T => {
    const before = process.cpuUsage();
    try {
      return work();
    } finally {
      const { user, system } = process.cpuUsage(before);
      longest = Math.max(longest, (user + system) / 1000);
    }
  };
  const slices = async (step: () => boolean): Promise<void> => {
    while (timed(step)) await new Promise((resolve) => setImmediate(resolve));
  };
  try {
    const begun = timed(() => {
      const prepared = statements.prepare(form + text);
      return statements.execute(prepared, { parameters, session: 'bench', slices });
    });
    const { steps } = await begun;
    while (timed(() => steps.next()).done !== true);
  } catch {
    // The statement was refused; the work up to that point counts too.
  }
  return longest;
}
