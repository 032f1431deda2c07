import { describe, expect, it } from 'vitest';
import { HedgerowError } from '../../src/errors.ts';
import { type Asked, checkHead, completionOf, completionSteps } from '../../src/llm/chat-answer.ts';
import { fc } from '../support/property.ts';

const ASKED: Asked = { prompt: { system: 's', user: 'u' }, model: 'asked', apiKey: 'sk-canary-0123456789abcdef' };

/**
 * Returns a completion, or undefined if reading fails with `model_failed`. Throws any other error.
 */
function read(bytes: Uint8Array): unknown {
  try {
    return completionOf(bytes, ASKED);
  } catch (error) {
    if (!(error instanceof HedgerowError) || error.code !== 'model_failed') throw error;
    expect(error.message).toMatch(/^The language model .+\.$/);
    return undefined;
  }
}

/** Generates JSON similar to a real answer, in which any part may be replaced by any value. */
function answers(): fc.Arbitrary<unknown> {
  const or = <T>(value: fc.Arbitrary<T>) =>
    fc.oneof({ weight: 6, arbitrary: value }, { weight: 1, arbitrary: fc.jsonValue() });
  const part = or(fc.record({ type: fc.constantFrom('text', 'image_url'), text: or(fc.string()) }));
  const content = or(fc.oneof(fc.string({ unit: 'binary' }), fc.constant(null), fc.array(part, { maxLength: 3 })));
  const choice = or(fc.record({ message: or(fc.record({ content }, { requiredKeys: [] })) }));
  const usage = or(fc.record({ prompt_tokens: or(fc.nat()), completion_tokens: or(fc.integer()) }));
  const fields = { model: or(fc.string()), choices: or(fc.array(choice, { maxLength: 2 })), usage };
  return or(fc.record(fields, { requiredKeys: ['choices'] }));
}

describe("a model's answer", () => {
  it('becomes a valid completion or a failure for any JSON', () => {
    let complete = 0;
    fc.assert(
      fc.property(answers(), (answer) => {
        const completion = read(Buffer.from(JSON.stringify(answer)));
        if (completion === undefined) return;
        complete++;
        const whole = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
        const { text, model, promptTokens, completionTokens } = completion as Record<string, unknown>;
        expect([typeof text, typeof model, whole(promptTokens), whole(completionTokens)]).toEqual([
          'string',
          'string',
          true,
          true,
        ]);
        expect(text).not.toMatch(/\p{Surrogate}/u);
        expect(model).toMatch(/^[\x20-\x7e]+$/);
      }),
      { numRuns: 1500, seed: 6 },
    );
    expect(complete).toBeGreaterThan(100);
  });

  it('becomes a completion or a failure for any bytes', () => {
    const good = Buffer.from('{"choices":[{"message":{"content":"x"}}]}');
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        read(bytes);
      }),
      { numRuns: 500, seed: 6 },
    );
    // Tries every prefix, and changes every byte.
    for (let at = 0; at < good.length; at++) {
      expect(read(good.subarray(0, at))).toBeUndefined();
      for (const byte of [0x00, 0x22, 0x5c, 0x7f, 0xc3, 0xff]) {
        const changed = Buffer.from(good);
        changed[at] = byte;
        read(changed);
      }
    }
    expect(read(good)).toMatchObject({ text: 'x', model: 'asked' });
  });

  it('has its tokens counted in slices if it does not state the number of tokens', () => {
    const content = '中'.repeat(300_000);
    const slicesOf = (answer: object) => {
      const steps = completionSteps(Buffer.from(JSON.stringify(answer)), ASKED);
      let slices = 1;
      for (let step = steps.next(); step.done !== true; step = steps.next()) slices++;
      return slices;
    };
    const choices = [{ message: { content } }];
    expect(slicesOf({ choices })).toBeGreaterThanOrEqual(2 ** 16 / 512);
    expect(slicesOf({ choices, usage: { prompt_tokens: 1, completion_tokens: 1 } })).toBe(2);
  });

  it('is accepted or refused as `model_failed` for any status and headers', () => {
    const header = fc.oneof(
      fc.string(),
      fc.constantFrom('application/json', 'Application/JSON ; charset=utf-8', 'gzip', ''),
    );
    const head = fc.record({
      status: fc.oneof(fc.constant(200), fc.integer({ min: 100, max: 999 })),
      headers: fc.record({ 'content-type': header, 'content-encoding': header }, { requiredKeys: [] }),
    });
    fc.assert(
      fc.property(head, ({ status, headers }) => {
        let failure: unknown;
        try {
          checkHead({ status, headers: headers as Record<string, string> }, ASKED);
        } catch (error) {
          failure = error;
        }
        if (failure === undefined) expect(status).toBe(200);
        else expect(failure).toMatchObject({ code: 'model_failed' });
      }),
      { numRuns: 500, seed: 6 },
    );
  });

  it('is refused without showing the key, even if the name of the model contains it', () => {
    const asked = { ...ASKED, model: `gpt ${ASKED.apiKey}` };
    const failed = (status: number) => {
      try {
        checkHead({ status, headers: {} }, asked);
      } catch (error) {
        return (error as Error).message;
      }
      return '';
    };
    for (const status of [400, 404]) {
      expect(failed(status)).toContain('"gpt [masked]"');
      expect(failed(status)).not.toContain('canary');
    }
  });
});
