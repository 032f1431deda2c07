import { createRequire } from 'node:module';
import { describe, expect, it, vi } from 'vitest';
import { countTokens, tokenSteps } from '../../src/llm/tokens.ts';
import { fc } from '../support/property.ts';

const direct = createRequire(import.meta.url)('gpt-tokenizer/encoding/o200k_base') as {
  encode(text: string, options: object): number[];
};

/** Counts tokens by encoding the whole text at once. The tested code counts in windows. */
function tokensOf(text: string): number {
  return direct.encode(text, { disallowedSpecial: new Set() }).length;
}

const LINE =
  '[HEDGE-12] event_ts=1700000000 members=[3, 9, 1200] weight=0.5 formation="escort" note="Über naïve 東京"\n';

describe('countTokens', () => {
  it('returns the number of tokens in the encoding o200k_base', () => {
    // These numbers are from the examples that the reference implementation publishes.
    expect(countTokens('')).toBe(0);
    expect(countTokens('hello world')).toBe(2);
    expect(countTokens('tiktoken is great!')).toBe(6);
    expect(countTokens('antidisestablishmentarianism')).toBe(6);
    expect(countTokens('2 + 2 = 4')).toBe(7);
    expect(countTokens('お誕生日おめでとう')).toBe(8);
  });

  it('is exact for texts that are counted in many windows', () => {
    for (const text of [
      LINE.repeat(500),
      `  ${LINE.trim()}\t\n\n   x `.repeat(400),
      "don't  we'LL \r\n".repeat(2000),
    ]) {
      expect(countTokens(text)).toBe(tokensOf(text));
    }
  });

  it('is exact for any text with spaces, independently of where windows end', () => {
    const word = fc.stringMatching(/^[\p{L}\p{M}\p{N}\p{P}\p{S}\s]{0,12}$/u);
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 30 }), (words) => {
        const text = `${words.join(' ')} `;
        const long = text.repeat(Math.ceil(9000 / text.length));
        expect(countTokens(long)).toBe(tokensOf(long));
      }),
      { numRuns: 40, seed: 6 },
    );
  });

  it("counts a model's special markers as ordinary text", () => {
    for (const marker of ['<|endoftext|>', '<|im_start|>', '<|fim_prefix|>', 'x <|endofprompt|> y']) {
      expect(countTokens(marker)).toBe(tokensOf(marker));
      expect(countTokens(marker)).toBeGreaterThan(3);
    }
  });

  it('is nearly exact for a long run without spaces, which is counted in pieces', () => {
    for (const text of ['a'.repeat(3000), ' '.repeat(3000), '!'.repeat(3000), 'ab'.repeat(1500), '中'.repeat(900)]) {
      const exact = tokensOf(text);
      expect(Math.abs(countTokens(text) - exact), text.slice(0, 4)).toBeLessThanOrEqual(text.length / 128 + 1);
    }
  });

  it('ends in time for hostile texts of any length, and never splits a character', () => {
    for (const text of ['a', 'A', '😀', '\u0301', ' ', '\n', '/\n', '\ud800', '\udc00\ud800', '[HEDGE-1]', '\0']) {
      expect(countTokens(text.repeat(200_000)), JSON.stringify(text)).toBeGreaterThan(1000);
    }
    // Each emoji is a surrogate pair. If it was split, it would count as six tokens.
    expect(countTokens('😀'.repeat(5000))).toBe(5000 * countTokens('😀'));
    expect(Math.abs(countTokens(`!${'😀'.repeat(5000)}`) - 5000 * countTokens('😀'))).toBeLessThan(3);
    expect(countTokens('a'.repeat(2 ** 27))).toBeGreaterThan(2 ** 23);
  });

  it('pauses at least once every 512 characters of any text', () => {
    for (const text of ['中', `${'中'.repeat(127)}1`, 'word ', '😀', '!', '\n', '7']) {
      const long = text.repeat(2 ** 17);
      let pauses = 0;
      const steps = tokenSteps(long);
      let step = steps.next();
      for (; step.done !== true; step = steps.next()) pauses++;
      expect(pauses, JSON.stringify(text)).toBeGreaterThanOrEqual(2 ** 16 / 512);
      expect(step.value).toBe(countTokens(long));
    }
  });

  it('estimates the rest of a very long text in proportion to its length', () => {
    const once = LINE.repeat(2000);
    const count = countTokens(once.repeat(5));
    expect(Math.abs(count / (5 * countTokens(once)) - 1)).toBeLessThan(0.001);
  });
});

describe('loadTokens', () => {
  async function unloaded() {
    vi.resetModules();
    return await import('../../src/llm/tokens.ts');
  }

  it('loads the 200,000 tokens in many steps', async () => {
    const { loadTokens, countTokens: count } = await unloaded();
    const steps = [...loadTokens()];
    expect(steps.length).toBeGreaterThan(40);
    expect(count(LINE.repeat(50))).toBe(tokensOf(LINE.repeat(50)));
    expect([...loadTokens()]).toEqual([]);
  });

  it('decodes one line of tokens in a step, not the whole table', async () => {
    const { loadTokens } = await unloaded();
    const decoded = vi.spyOn(Buffer.prototype, 'toString');
    const letters = () => decoded.mock.results.reduce((sum, { value }) => sum + value.length, 0);
    let most = 0;
    let all = 0;
    for (const _ of loadTokens()) {
      most = Math.max(most, letters());
      all += letters();
      decoded.mockClear();
    }
    decoded.mockRestore();
    expect(all).toBeGreaterThan(1_000_000);
    expect(most).toBeLessThan(all / 10);
  });

  it('loads only once for concurrent callers, and a count completes the loading', async () => {
    const { loadTokens, countTokens: count } = await unloaded();
    const [one, other] = [loadTokens(), loadTokens()];
    one.next();
    other.next();
    expect(one.next().done).toBe(false);
    expect(count('お誕生日おめでとう')).toBe(8);
    expect([one.next().done, other.next().done]).toEqual([true, true]);
    expect(count(LINE)).toBe(tokensOf(LINE));
  });
});
