// Tests that the steps of large rule sets stay short: what a round costs for predicates and rules
// without new facts counts as work too.

import { expect, test } from 'vitest';
import { BaseFacts } from '../../src/rules/base-facts.ts';
import { evaluate } from '../../src/rules/evaluate.ts';
import { FactWorld } from '../../src/rules/fact-world.ts';
import { readRuleSet, readRuleSetSteps } from '../../src/rules/rule-set.ts';

const RULES = 300;

/** Each rule follows from the one before, so that every round has new facts for one rule only. */
const chain = Array.from({ length: RULES }, (_, index) => ({
  id: `rule:r${index}`,
  if: [{ pred: index === 0 ? 'member' : `p${index - 1}`, args: ['?A', '?B'] }],
  then: { pred: `p${index}`, args: ['?A', '?B'], confidence: 1 },
}));
// A cycle puts all rules into one stratum.
const closing = {
  id: 'rule:last',
  if: [{ pred: `p${RULES - 1}`, args: ['?A', '?B'] }],
  then: { pred: 'p0', args: ['?A', '?B'], confidence: 1 },
};

test('a round is a step of its own if there are many rules, even if only one has new facts', () => {
  const set = readRuleSet([...chain.toReversed(), closing], ['body', 'rules']);
  const base = new BaseFacts();
  base.add('member', 1, 2);
  let steps = 0;
  for (const _ of evaluate(set, base)) steps++;
  // Rounds of 300 rules and 300 predicates count as 4,900 rows each, and a step has 30,000.
  expect(steps).toBeGreaterThan(RULES / 8);
});

test('the predicates of many rules are defined in steps', () => {
  const base = new BaseFacts();
  base.add('member', 1, 2);
  const stepsOf = (rules: typeof chain) => [...FactWorld.load(readRuleSet(rules, ['body', 'rules']), base)].length;
  // Their constants are collected in as many steps.
  expect(stepsOf(chain) - stepsOf(chain.slice(0, 1))).toBeGreaterThanOrEqual((2 * RULES) / 100);
});

test('many strata are evaluated in steps, even if each has only one rule and few facts', () => {
  const rules = chain.map((rule, index) => ({
    ...rule,
    if: [
      { pred: 'member', args: ['?A', '?B'] },
      ...(index === 0 ? [] : [{ not: { pred: `p${index - 1}`, args: ['?A', '?B'] } }]),
    ],
  }));
  const set = readRuleSet(rules, ['body', 'rules']);
  expect(set.strataCount).toBe(RULES);
  const base = new BaseFacts();
  base.add('member', 1, 2);
  // Planning a rule counts as 3,000 rows, and a step has 30,000.
  expect([...evaluate(set, base)].length).toBeGreaterThan(RULES / 10);
});

test('a large set is read in steps', () => {
  const steps = readRuleSetSteps(chain, ['body', 'rules']);
  // Reading and checking are steps of 50 rules, and the strata are found in four steps.
  expect([...steps].length).toBe((2 * RULES) / 50 + 4);
});
