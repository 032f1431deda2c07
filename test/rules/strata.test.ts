// Tests strata and cycles that are too large for a golden file, and compares strata with their
// definition. Small ones are in golden/07-cycles.txt.

import { describe, expect, it } from 'vitest';
import { parseRule } from '../../src/rules/parse-rule.ts';
import type { ParsedRule } from '../../src/rules/rule.ts';
import { stratify } from '../../src/rules/strata.ts';
import { finish } from '../../src/schedule/steps.ts';
import { fc } from '../support/property.ts';
import { ruleOf, type WrittenRule } from './rule-text.ts';

function parsed(rules: readonly (string | WrittenRule)[]): ParsedRule[] {
  return rules.map((rule) => {
    const outcome = parseRule(typeof rule === 'string' ? ruleOf(rule) : rule, ['body']);
    if ('errors' in outcome) throw new Error(JSON.stringify(outcome.errors));
    return outcome.parsed;
  });
}

function cyclesOf(rules: readonly string[]): string[] {
  const outcome = finish(stratify(parsed(rules)));
  return 'cycles' in outcome ? outcome.cycles.map(({ text }) => text) : [];
}

describe('a cycle with a negation', () => {
  it('is reported in a shortened form if it has many rules', () => {
    const count = 1000;
    const rules = Array.from({ length: count }, (_, index) => {
      const next = `p${(index + 1) % count}(?X)`;
      return `rule:r${index}: p${index}(?X) :- base(?X), ${index === 0 ? 'not ' : ''}${next}`;
    });
    const [text, ...others] = cyclesOf(rules);
    expect(others).toEqual([]);
    expect(text).toBe(
      'p0 -> not p1 -> p2 -> p3 -> p4 -> p5 -> p6 -> p7 -> p8 -> (984 more) -> p993 -> p994 -> p995 -> p996 -> p997 -> p998 -> p999 -> p0 ' +
        '(rule:r0, rule:r1, rule:r2, rule:r3, rule:r4, rule:r5, rule:r6, rule:r7, (984 more), ' +
        'rule:r992, rule:r993, rule:r994, rule:r995, rule:r996, rule:r997, rule:r998, rule:r999)',
    );
  });

  it('is reported with the indexes of its rules', () => {
    const rules = ['rule:z: s(?X) :- p(?X)', 'rule:b: r(?X) :- p(?X)', 'rule:a: p(?X) :- q(?X), not r(?X)'];
    const outcome = finish(stratify(parsed(rules)));
    expect(outcome).toEqual({ cycles: [{ text: 'p -> not r -> p (rule:a, rule:b)', rules: [2, 1] }] });
  });

  it('is found among hundreds of cycles without listing all of them', () => {
    const rules = Array.from(
      { length: 500 },
      (_, index) => `rule:r${index}: p${index}(?X) :- q(?X), not p${499 - index}(?X)`,
    );
    const texts = cyclesOf(rules);
    expect(texts.length).toBe(16);
    expect(texts[0]).toBe('p0 -> not p499 -> not p0 (rule:r0, rule:r499)');
  });
});

describe('strata', () => {
  it('are computed for a thousand predicates, each above the previous one', () => {
    const rules = Array.from(
      { length: 1000 },
      (_, index) => `rule:r${index}: p${index + 1}(?X) :- q(?X), not p${index}(?X)`,
    );
    for (const order of [rules, [...rules].reverse()]) {
      const outcome = finish(stratify(parsed(order)));
      expect('strata' in outcome && outcome.strata.get('p1000')).toBe(1000);
      expect('strata' in outcome && outcome.strata.get('p1')).toBe(1);
    }
  });

  it('are empty for no rules', () => {
    expect(finish(stratify([]))).toEqual({ strata: new Map() });
  });

  const pred = fc.constantFrom('a', 'b', 'c', 'd', 'e');
  const premise = fc.record({ pred: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'base', 'member'), not: fc.nat(3) });
  const program = fc.array(fc.record({ head: pred, body: fc.array(premise, { minLength: 1, maxLength: 3 }) }), {
    maxLength: 6,
  });

  it('are the smallest that their definition allows; if no strata exist, the named rules form a cycle', () => {
    const seen = { strata: 0, cycles: 0 };
    fc.assert(
      fc.property(program, (rules) => {
        const written = rules.map(
          ({ head, body }, index): WrittenRule => ({
            id: `rule:r${index}`,
            if: body.map(({ pred: name, not }) =>
              not === 0 ? { not: { pred: name, args: [] } } : { pred: name, args: [] },
            ),
            then: { pred: head, args: [] },
          }),
        );
        const outcome = finish(stratify(parsed(written)));
        const expected = leastStrata(rules);
        if ('strata' in outcome) {
          seen.strata++;
          expect(Object.fromEntries(outcome.strata)).toEqual(expected);
          return;
        }
        seen.cycles++;
        expect(expected).toBeUndefined();
        for (const { text, rules: indexes } of outcome.cycles) {
          expectCycle(
            text,
            indexes.map((index) => rules[index]!),
          );
          // The named rules alone form the cycle.
          expect(leastStrata(indexes.map((index) => rules[index]!))).toBeUndefined();
        }
      }),
      { seed: 11, numRuns: 3000 },
    );
    expect(seen.strata).toBeGreaterThan(500);
    expect(seen.cycles).toBeGreaterThan(500);
  });
});

interface Small {
  readonly head: string;
  readonly body: readonly { readonly pred: string; readonly not: number }[];
}

/**
 * Raises every stratum until the definition is satisfied. Returns undefined if that would never
 * end.
 */
function leastStrata(rules: readonly Small[]): Record<string, number> | undefined {
  const strata: Record<string, number> = {};
  for (const { head } of rules) strata[head] = 0;
  for (let changed = true; changed; ) {
    changed = false;
    for (const { head, body } of rules) {
      for (const { pred, not } of body) {
        const least = (strata[pred] ?? 0) + (not === 0 ? 1 : 0);
        if (strata[head]! >= least) continue;
        if (least > rules.length + 1) return undefined;
        strata[head] = least;
        changed = true;
      }
    }
  }
  return strata;
}

/**
 * Checks that each step in the text is a premise of a rule, that one step is negative, and that the
 * cycle ends where it began.
 */
function expectCycle(text: string, rules: readonly Small[]): void {
  const steps = text.slice(0, text.indexOf(' (')).split(' -> ');
  expect(steps.at(-1)!.replace('not ', '')).toBe(steps[0]);
  expect(steps.slice(1).some((step) => step.startsWith('not '))).toBe(true);
  for (const [index, step] of steps.slice(1).entries()) {
    const from = steps[index]!.replace('not ', '');
    const name = step.replace('not ', '');
    const isThere = rules.some(
      ({ head, body }) =>
        head === from && body.some(({ pred, not }) => pred === name && (not === 0) === step.startsWith('not ')),
    );
    expect(isThere, text).toBe(true);
  }
}
