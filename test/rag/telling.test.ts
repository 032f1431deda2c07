// Tests which texts tell something, and that a recall prefers them.

import { describe, expect, it } from 'vitest';
import { Memory } from '../../src/memory/index.ts';
import { hasQuestion, saysYou } from '../../src/rag/question/telling.ts';
import { finish } from '../../src/schedule/steps.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';

describe('a text', () => {
  it.each(['How are you?', 'Fine. And the trip? It rained.', '本当\uff1f', 'لماذا\u061f'])(
    'with a question: %s',
    (text) => expect(hasQuestion(text)).toBe(true),
  );
  it.each(['I wonder.', 'Wow!', ''])('without a question: %s', (text) => expect(hasQuestion(text)).toBe(false));
  it.each(['You did it', 'Is it yours?', "you're late", 'Help yourself'])('to somebody: %s', (text) =>
    expect(saysYou(text)).toBe(true),
  );
  it.each(['The youth club', 'Bayou tours', 'I paint'])('to nobody: %s', (text) => expect(saysYou(text)).toBe(false));
});

describe('a recall', () => {
  it('prefers what tells to what asks, and shows why', async () => {
    const database = await openSim(simDisk(), { memoryBudgetBytes: 2 ** 26, logFileBytes: 2 ** 20 });
    const memory = new Memory({ database, now: () => 2_000_000_000_000 });
    const texts = [
      'How was the harbour market this morning then?',
      'The harbour market was crowded this morning, sadly.',
      'They say your harbour market is crowded mornings.',
    ];
    for (const what of texts) await memory.remember({ what, who: ['Ada'], about: [], when: 1_000_000 });
    const { memories } = finish(memory.recall({ question: 'harbour market', topK: 5 }));
    expect(memories.map(({ what }) => texts.indexOf(String(what)))).toEqual([1, 2, 0]);
    expect(memories.map(({ why }) => why.filter((line) => line.startsWith('no ')))).toEqual([
      ['no question (rank 1)', 'no "you" (rank 1)'],
      ['no question (rank 1)'],
      ['no "you" (rank 1)'],
    ]);
    await database.close();
  });
});
