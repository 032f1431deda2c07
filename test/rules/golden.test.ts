// Runs the golden rules (golden/*.txt): which facts rules derive, with which confidence and in
// which strata, and why other rules are refused.

import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { HedgerowError } from '../../src/errors.ts';
import { BaseFacts } from '../../src/rules/base-facts.ts';
import { evaluate } from '../../src/rules/evaluate.ts';
import { factText } from '../../src/rules/fact-text.ts';
import { enabledOf, type RuleSet, readRuleSet } from '../../src/rules/rule-set.ts';
import { finish } from '../../src/schedule/steps.ts';
import { WRITE_GOLDEN } from '../support/golden.ts';
import { type GoldenCase, goldenCases, goldenNames, goldenPath, goldenText, readGolden } from './golden-file.ts';
import { answerOrder, naiveFacts, strataOf, type WireFact, type WireRule } from './naive-evaluator.ts';

/** Returns the lines that are now the answer to a case. */
function answerOf({ rules, facts }: GoldenCase): string[] {
  let set: RuleSet;
  try {
    set = readRuleSet(rules, ['body', 'rules']);
  } catch (error) {
    if (!(error instanceof HedgerowError)) throw error;
    expect(error.code).toBe('invalid_rule');
    expect(error.errors?.length).toBeGreaterThan(0);
    return [`error: ${error.message}`];
  }
  const strata = rules.map(({ id }) => `${id}=${set.rules.find(({ rule }) => rule.id === id)!.stratum}`);
  return [...derivedLines(set, facts), `strata: ${strata.join(', ')}`.trimEnd()];
}

function derivedLines(set: RuleSet, facts: GoldenCase['facts']): string[] {
  const base = new BaseFacts();
  for (const { pred, args } of facts) base.add(pred, ...args);
  const model = finish(evaluate(enabledOf(set), base));
  return [...finish(model.derived())].map((handle) => {
    const { pred, args } = model.factOf(handle);
    return `${factText(pred, args)} ${shortNumber(model.confidenceOf(handle))}`;
  });
}

/** Returns a product of decimal fractions without the rounding error in the last bits. */
function shortNumber(value: number): number {
  return Number(value.toPrecision(12));
}

const cases = goldenCases();

describe('golden rules', () => {
  it('are more than 150 and have unique names', () => {
    expect(cases.length).toBeGreaterThan(150);
    expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length);
  });

  it('include facts, strata and refusals', () => {
    const lines = cases.flatMap(({ answer }) => answer);
    const strata = lines.filter((line) => line.startsWith('strata: '));
    expect(strata.some((line) => line.endsWith('=4'))).toBe(true);
    expect(lines.filter((line) => line.startsWith('error: ')).length).toBeGreaterThan(40);
    expect(lines.filter((line) => line.includes('cannot be stratified')).length).toBeGreaterThan(15);
  });

  it.runIf(WRITE_GOLDEN).each(goldenNames())('are written for %s', (file) => {
    const parts = readGolden(file);
    const own = parts.filter((part) => typeof part !== 'string');
    writeFileSync(goldenPath(file), goldenText(parts, new Map(own.map((one) => [one, answerOf(one)]))));
  });

  it.skipIf(WRITE_GOLDEN).each(cases)('have the expected answers in $file: $name', (one) => {
    expect(answerOf(one)).toEqual(one.answer);
  });

  it('derive what the naive evaluator derives, in the strata that follow from the definition', () => {
    for (const one of cases.filter(({ answer }) => !answer[0]!.startsWith('error: '))) {
      const rules = one.rules as unknown as WireRule[];
      const facts = naiveFacts(rules, one.facts as WireFact[]);
      const derived = [...facts.values()].filter(({ given }) => !given).sort(answerOrder);
      const strata = strataOf(rules);
      const lines = derived.map(({ pred, args, confidence }) => `${factText(pred, args)} ${shortNumber(confidence)}`);
      const stratumTexts = rules.map(({ id, then }) => `${id}=${strata.get(then.pred)}`);
      expect([...lines, `strata: ${stratumTexts.join(', ')}`.trimEnd()], one.name).toEqual(one.answer);
    }
  });

  it('derive the same when rules, conditions and facts are in another order', () => {
    for (const one of cases.filter(({ answer }) => !answer[0]!.startsWith('error: '))) {
      const rules = [...one.rules].reverse().map((rule) => ({ ...rule, if: [...rule.if].reverse() }));
      const facts = [...one.facts].reverse();
      const set = readRuleSet(rules, ['body', 'rules']);
      expect(derivedLines(set, facts), one.name).toEqual(one.answer.filter((line) => !line.startsWith('strata:')));
    }
  });
});
