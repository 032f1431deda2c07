// Recalls memories by words that a text index keeps whole although they have signs in them.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/engine/index.ts';
import { Memory } from '../../src/memory/index.ts';
import { finish } from '../../src/schedule/steps.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';
import { PARTS, WHOLE_WORDS } from '../support/whole-words.ts';

let database: Database;
let memory: Memory;
beforeAll(async () => {
  database = await openSim(simDisk());
  memory = new Memory({ database, now: () => 1_700_000_000_000 });
  for (const [place, what] of [...Object.values(WHOLE_WORDS), PARTS[0]!].entries())
    await memory.remember({ what, who: [`thing ${place}`], about: [] });
});
afterAll(() => database.close());

test.each(Object.entries(WHOLE_WORDS))('%s is found', (word, what) => {
  for (const question of [word, `What do you know of ${word}?`]) {
    const [first] = finish(memory.recall({ question, topK: 3 })).memories;
    expect(first?.what, question).toBe(what);
    expect(first!.why[0], question).toMatch(/^words: /);
  }
});
