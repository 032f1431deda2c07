// Recalls memories by words that a text index keeps whole although they have signs in them.

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/engine/index.ts';
import { Memory } from '../../src/memory/index.ts';
import { finish } from '../../src/schedule/steps.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';

const FACTS = {
  '55,000': 'The invoice came to 55,000 euros.',
  '3,50': 'Coffee was 3,50 francs, which are 3 coins of one and one of a half.',
  'example.com': 'The manual lies at example.com for all.',
  'www.example.org': 'See www.example.org soon.',
  'node.js': 'Grace likes node.js most.',
  '14:30': 'The train leaves at 14:30 sharp.',
  '192.168.0.1': 'The router has 192.168.0.1 inside.',
  '2.3.1': 'A bug is known since 2.3.1.',
  "o'neil": "Mail from O'Neil came.",
  'U.S.A': 'Born in the U.S.A long ago.',
  'bud\u00ADget': 'The budget is small.',
  foo_bar: 'Call foo_bar twice.',
  '1.5': 'It weighs 1.5 kilos.',
  'a:b': 'Key a:b exists.',
  '1,234.56': 'A total of 1,234.56 was paid.',
  ISO9001: 'We have ISO9001.',
  'ada@example.net': 'Write to ada@example.net instead.',
};

let database: Database;
let memory: Memory;
beforeAll(async () => {
  database = await openSim(simDisk());
  memory = new Memory({ database, now: () => 1_700_000_000_000 });
  for (const [place, what] of [...Object.values(FACTS), 'Room 3 is on floor 55.'].entries())
    await memory.remember({ what, who: [`thing ${place}`], about: [] });
});
afterAll(() => database.close());

test.each(Object.entries(FACTS))('%s is found', (word, what) => {
  for (const question of [word, `What do you know of ${word}?`]) {
    const [first] = finish(memory.recall({ question, topK: 3 })).memories;
    expect(first?.what, question).toBe(what);
    expect(first!.why[0], question).toMatch(/^words: /);
  }
});
