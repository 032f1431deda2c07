// Tests that a history with many versions is read, shown and written in small steps.

import { expect, test } from 'vitest';
import { type History, Memory } from '../../src/memory/index.ts';
import { HistoryText } from '../../src/routes/history-reply.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';

const ROWS = 6000;
const PLANNED = 3000;
const TEXTS = { who: ['Ada'], about: ['Orion'] };
/** Number of members whose keys may be looked up in one step. */
const MOST_LOOKED_UP = 64 * 2;

/** Memories of which every second one has been superseded. */
async function filled() {
  const database = await openSim(simDisk(), { core: 'release', segmentRows: 2 ** 16, logFileBytes: 2 ** 24 });
  const memory = new Memory({ database, now: () => ROWS * 1000 });
  await memory.remember({ what: 'fact 0', ...TEXTS, when: 0 });
  const table = database.table('memories');
  for (let from = 1; from < ROWS; from += 1000) {
    const bulk = table.bulk();
    for (let row = from; row < Math.min(ROWS, from + 1000); row++) {
      const supersedes = row >= PLANNED ? row - PLANNED + 1 : null;
      const properties = { what: `fact ${row}`, source: null, supersedes, end_ts: null };
      bulk.add({ event_ts: row, members: [1, 2], areNumbers: true, roles: { who: [1], about: [2] }, properties });
    }
    await bulk.commit();
  }
  return { database, memory };
}

test('a history looks up few keys in a step, and keeps the newest versions', async () => {
  const { database, memory } = await filled();
  let lookedUp = 0;
  const { nodes } = database;
  const shown = nodes.shown.bind(nodes);
  nodes.shown = (...given) => {
    lookedUp++;
    return shown(...given);
  };
  const steps = memory.history({ about: ['Orion'], limit: ROWS - 500 });
  let most = 0;
  let count = 0;
  let step = steps.next();
  for (let before = 0; step.done !== true; step = steps.next(), count++) {
    most = Math.max(most, lookedUp - before);
    before = lookedUp;
  }
  const { memories, truncated } = step.value;
  expect([truncated, memories.length, memories[0]?.what]).toEqual([true, ROWS - 500, 'fact 500']);
  expect(memories.map(({ event_ts }) => event_ts)).toEqual(Array.from({ length: ROWS - 500 }, (_, n) => n + 500));
  expect(memories.filter(({ superseded_by }) => superseded_by !== null)).toHaveLength(PLANNED - 500);
  expect(lookedUp).toBe(2 * (ROWS - 500));
  expect(most).toBeLessThanOrEqual(MOST_LOOKED_UP);
  // The rows are kept, followed and shown in steps of 64.
  expect(count).toBeGreaterThan((3 * (ROWS - 500)) / 64);
  await database.close();
});

test.each([0, 1, 2000])('the text of %i versions is written in small pieces', (count) => {
  const version = { what: 'x'.repeat(100), ...TEXTS, event_ts: 1, end_ts: null, source: null };
  const memories = Array.from({ length: count }, (_, id) => ({
    id,
    ...version,
    supersedes: null,
    superseded_by: null,
  }));
  const history: History = { memories, truncated: false, lsn: 7 };
  const text = new HistoryText(history, { shown: (one) => one, look: () => {} });
  const pieces: string[] = [];
  for (let piece = text.next(); piece !== null; piece = text.next()) pieces.push(Buffer.from(piece).toString());
  expect(JSON.parse(pieces.join(''))).toEqual({ memories, truncated: false });
  expect(text.isEnded).toBe(true);
  for (const piece of pieces) expect(piece.length).toBeLessThan(33 * 1024);
  expect(pieces.length).toBeGreaterThanOrEqual((count * 200) / (33 * 1024));
});
