// Tests times in rules. A text compared with the time of an edge must mean the same as its seconds.

import { describe, expect, it } from 'vitest';
import { parseRule } from '../../src/rules/parse-rule.ts';
import { drained, modelOf } from './evaluated.ts';
import type { WireFact } from './naive-evaluator.ts';

const NOON = Date.parse('2024-05-02T12:00:00Z') / 1000;
const FACTS: WireFact[] = Array.from({ length: 40 }, (_, id) => ({
  pred: 'at',
  args: [id, NOON + (id - 20) * 7200],
})).concat(
  Array.from({ length: 40 }, (_, id) => ({
    pred: 'formation',
    args: [id, id % 2 === 0 ? '2024-05-02' : 'lunch'] as never,
  })),
);

function rule(...conditions: unknown[]) {
  return { id: 'rule:r', if: conditions, then: { pred: 'found', args: ['?E'] } };
}

function derived(conditions: unknown[]): string[] {
  const model = modelOf([rule(...conditions)], FACTS);
  return [...drained(model.derived())].map((fact) => JSON.stringify(model.factOf?.(fact) ?? fact));
}

const AT = { pred: 'at', args: ['?E', '?T'] };
const TEXTS = ['2024-05-02', '2024-05-02T10:00:00+02:00', '2024-05-02 12:00', '1999-12-31'];
const secondsOf = (text: string) => Date.parse(/ \d/.test(text) ? `${text.replace(' ', 'T')}Z` : text) / 1000;

describe('a text used with the time of an edge', () => {
  for (const op of ['=', '!=', '<', '<=', '>', '>=']) {
    it(`is a time in a guard with ${op}`, () => {
      let found = 0;
      for (const text of TEXTS) {
        for (const guard of [
          (value: unknown) => ({ compare: ['?T', op, value] }),
          (value: unknown) => ({ compare: [value, op, '?T'] }),
        ]) {
          const inSeconds = derived([AT, guard(secondsOf(text))]);
          expect(derived([AT, guard(text)])).toEqual(inSeconds);
          expect(derived([guard(text), AT])).toEqual(derived([guard(secondsOf(text)), AT]));
          found += inSeconds.length;
        }
      }
      expect(found).toBeGreaterThan(0);
    });
  }

  it('is a time as an argument of `at`, also in a negation', () => {
    for (const text of TEXTS) {
      expect(derived([{ pred: 'at', args: ['?E', text] }])).toEqual(
        derived([{ pred: 'at', args: ['?E', secondsOf(text)] }]),
      );
      const without = (value: unknown) => [AT, { not: { pred: 'at', args: ['?E', value] } }];
      expect(derived(without(text))).toEqual(derived(without(secondsOf(text))));
    }
    expect(derived([{ pred: 'at', args: ['?E', '2024-05-02T12:00'] }])).toHaveLength(1);
  });

  it('remains a text when it is compared with anything else', () => {
    expect(derived([{ pred: 'formation', args: ['?E', '?F'] }, { compare: ['?F', '=', '2024-05-02'] }])).toHaveLength(
      20,
    );
    expect(derived([{ pred: 'formation', args: ['?E', '2024-05-02'] }])).toHaveLength(20);
  });

  it('is stored unchanged', () => {
    const conditions = [AT, { compare: ['?T', '>=', '2024-05-02'] }];
    const outcome = parseRule(rule(...conditions), ['body']);
    expect('parsed' in outcome && outcome.parsed.rule.if).toEqual(conditions);
    expect('parsed' in outcome && outcome.parsed.body[1]).toMatchObject({
      right: { constant: secondsOf('2024-05-02') },
    });
  });
});

describe('a text that is not a valid time', () => {
  it('makes every comparison with a time false, even !=, like a value of any other type', () => {
    for (const text of ['soon', '2024-02-30', String(NOON), '', 'x'.repeat(60_000)]) {
      expect(derived([AT, { compare: ['?T', '!=', text] }])).toEqual([]);
      expect(derived([{ pred: 'at', args: ['?E', text] }])).toEqual([]);
      expect(derived([AT, { not: { pred: 'at', args: ['?E', text] } }])).toHaveLength(40);
    }
  });
});
