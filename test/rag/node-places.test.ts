// Tests which arguments of predicates are nodes according to rules, and that many rules are read in
// steps.

import { expect, test } from 'vitest';
import { nodePlaces } from '../../src/rag/node-places.ts';
import { readRuleSet } from '../../src/rules/rule-set.ts';
import { finish } from '../../src/schedule/steps.ts';

const rule = (id: string, pred: string, args: readonly string[], conditions: readonly [string, ...string[]][]) => ({
  id: `rule:${id}`,
  if: conditions.map(([name, ...of]) => ({ pred: name, args: of })),
  then: { pred, args, confidence: 1 },
});

const placesOf = (rules: readonly unknown[]) => {
  const places = finish(nodePlaces(readRuleSet(rules, ['body', 'rules'])));
  return Object.fromEntries([...places].map(([pred, of]) => [pred, [...of].sort()]));
};

test('a place is a node if a rule takes it from a member, directly or through other predicates', () => {
  const met = rule(
    'met',
    'met',
    ['?A', '?B'],
    [
      ['member', '?E', '?A'],
      ['member', '?E', '?B'],
    ],
  );
  const near = rule('near', 'near', ['?A'], [['met', '?A', '?B']]);
  const edge = rule('edge', 'seen', ['?E'], [['member', '?E', '?A']]);
  const expected = { member: [1], met: [0, 1], near: [0] };
  expect(placesOf([met, near, edge])).toEqual(expected);
  expect(placesOf([edge, near, met])).toEqual(expected);
});

test('recursion that exchanges places is followed to its end', () => {
  const first = rule('first', 'p', ['?A', '?E'], [['member', '?E', '?A']]);
  const turned = rule('turned', 'p', ['?B', '?A'], [['p', '?A', '?B']]);
  expect(placesOf([turned, first])).toEqual({ member: [1], p: [0, 1] });
});

test('a chain of rules in the worst order is read once, in steps', () => {
  const chain = Array.from({ length: 1000 }, (_, index) =>
    rule(`r${index}`, `p${index}`, ['?A', '?B'], [[index === 0 ? 'member' : `p${index - 1}`, '?A', '?B']]),
  );
  const set = readRuleSet(chain.toReversed(), ['body', 'rules']);
  const steps = nodePlaces(set);
  let count = 0;
  for (let step = steps.next(); ; step = steps.next(), count++)
    if (step.done === true) {
      expect(step.value.size).toBe(1001);
      break;
    }
  // Each rule is listed once and read once, 100 in a step.
  expect(count).toBe(20);
});
