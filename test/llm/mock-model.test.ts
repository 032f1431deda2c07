import { describe, expect, it } from 'vitest';
import { countTokens, createMockModel } from '../../src/llm/index.ts';
import { fc } from '../support/property.ts';

const SYSTEM = 'Answer from the lines alone.';
const LINES = [
  '[HEDGE-12] event_ts=1700000000 members=[3, 9] weight=0.5 formation="escort"',
  '[HEDGE-4] event_ts=-5 members=[7]',
  '[HEDGE-7] event_ts=0 members=[1, 2, 3] mean_dist_m=12.5',
  '[STEP-1] close(3, 9) confidence=0.9 by [RULE-1] from [HEDGE-12]',
  '[STEP-2] named(3, "a b") confidence=1 by [RULE-2] from [HEDGE-12] [HEDGE-7]',
  '[RULE-1] near: close(?A, ?B) if member(?E, ?A), member(?E, ?B)',
];

async function say(user: string): Promise<string> {
  return (await createMockModel().complete({ system: SYSTEM, user })).text;
}

describe('the mock model', () => {
  it('states the content of the lines in the prompt, each sentence with its tags', async () => {
    expect((await say(`Question: who met?\n${LINES.join('\n')}\n`)).split('\n')).toEqual([
      'It follows that close(3, 9) [STEP-1] [RULE-1].',
      'It follows that named(3, "a b") [STEP-2] [RULE-2].',
      'Nodes 3 and 9 met at 1700000000 with weight 0.5 [HEDGE-12].',
      'Node 7 was seen at -5 [HEDGE-4].',
      'Nodes 1, 2 and 3 met at 0 [HEDGE-7].',
    ]);
  });

  it('reads fields in any order, but not fields within a stored text', async () => {
    const line = '[HEDGE-1] note="x event_ts=9 members=[8, 9] weight=7 \\" weight=6" members=[1, 2] event_ts=3';
    expect(await say(line)).toBe('Nodes 1 and 2 met at 3 [HEDGE-1].');
    expect(await say('[HEDGE-1] note=" event_ts=9 members=[8, 9]"')).toBe('');
  });

  it('returns an empty answer if the prompt has no edges or facts', async () => {
    for (const user of [
      '',
      'Who met?',
      'Is [HEDGE-1] true?',
      '[RULE-1] near: close(?A, ?B) if x(?A, ?B)',
      '[HEDGE-1] odd',
    ])
      expect(await say(user)).toBe('');
  });

  it('answers the same on every run, and is called "mock"', async () => {
    const prompt = { system: SYSTEM, user: LINES.join('\n') };
    const first = await createMockModel().complete(prompt);
    expect(await createMockModel().complete(prompt)).toEqual(first);
    expect(first).toEqual({
      text: first.text,
      model: 'mock',
      promptTokens: countTokens(SYSTEM) + countTokens(prompt.user),
      completionTokens: countTokens(first.text),
    });
    expect(createMockModel().name).toBe('mock');
  });

  it('states only a few edges and members', async () => {
    const many = Array.from({ length: 200 }, (_, n) => `[HEDGE-${n}] event_ts=${n} members=[${n}, ${n + 1}] weight=1`);
    const members = Array.from({ length: 255 }, (_, n) => n).join(', ');
    expect((await say(many.join('\n'))).split('\n')).toHaveLength(5);
    expect(await say(`[HEDGE-1] event_ts=1 members=[${members}]`)).toBe(
      'Nodes 0, 1, 2, 3, 4, 5, 6 and 7 met at 1 [HEDGE-1].',
    );
  });

  it('leaves out facts whose text could end a sentence or look like a tag', async () => {
    for (const text of ['a. b', 'a.', 'what?', 'x [HEDGE-9]', 'so: yes', 'end!'])
      expect(await say(`[STEP-1] named(3, ${JSON.stringify(text)}) confidence=1 by [RULE-1] from [HEDGE-1]`)).toBe('');
    expect(await say('[STEP-1] speed(3, 2.5) confidence=1 by [RULE-1] from [HEDGE-1]')).toMatch(
      /^It follows that speed\(3, 2\.5\) /,
    );
  });

  it('answers any prompt in time, and cites only tags that the prompt contains', async () => {
    const part = fc.constantFrom(
      '[HEDGE-',
      '1',
      '] ',
      'event_ts=',
      'members=[',
      ', ',
      ']',
      ' weight=',
      '\n',
      '[STEP-',
      'x(',
      ')',
      ' confidence=',
      ' by [RULE-',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(part, fc.string()), { maxLength: 60 }), async (parts) => {
        const user = parts.join('');
        for (const [tag] of (await say(user)).matchAll(/\[\w+-\d+\]/g)) expect(user).toContain(tag);
      }),
      { numRuns: 300, seed: 6 },
    );
    for (const hostile of ['[HEDGE-1] event_ts=1 members=[', '[STEP-1] x', '[', ', ', '1'])
      expect(await say(hostile.repeat(20_000))).toBe('');
    expect(await say(`[HEDGE-1] "${'\\\\"'.repeat(100_000)}\\`)).toBe('');
  });

  it('rejects if the caller has aborted', async () => {
    const reason = new Error('gone');
    await expect(createMockModel().complete({ system: '', user: '' }, AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});
