// Tests the functions that build and check rule sets. What rules derive is tested in golden/*.txt.

import { describe, expect, it } from 'vitest';
import type { HedgerowError } from '../../src/errors.ts';
import { parseRule } from '../../src/rules/parse-rule.ts';
import type { ParsedRule } from '../../src/rules/rule.ts';
import { checkRuleSet, enabledOf, type RuleSet, readRuleSet } from '../../src/rules/rule-set.ts';
import { ruleOf } from './rule-text.ts';

function setOf(...texts: string[]): RuleSet {
  return readRuleSet(texts.map(ruleOf), ['body', 'rules']);
}

function refusalOf(rules: readonly unknown[]): HedgerowError {
  try {
    readRuleSet(rules, ['body', 'rules']);
  } catch (error) {
    return error as HedgerowError;
  }
  throw new Error('not refused');
}

function parsedOf(text: string): ParsedRule {
  const outcome = parseRule(ruleOf(text), ['body']);
  if ('errors' in outcome) throw new Error(JSON.stringify(outcome.errors));
  return outcome.parsed;
}

const THREE = [
  'rule:reach: reach(?X) :- start(?X)',
  'rule:lost: lost(?X) :- node(?X), not reach(?X)',
  'rule:fine: fine(?X) :- node(?X), not lost(?X), member(?E, ?X)',
];

describe('a rule set', () => {
  it('is sorted by priority, then by id', () => {
    const set = setOf(
      'rule:b: p(?X) :- q(?X)',
      'rule:c priority=2: p(?X) :- q(?X)',
      'rule:B: p(?X) :- q(?X)',
      'rule:a priority=-1: p(?X) :- q(?X)',
      'rule:d priority=2: p(?X) :- q(?X)',
      'rule:a-1: p(?X) :- q(?X)',
    );
    expect(set.rules.map(({ rule }) => rule.id)).toEqual([
      'rule:c',
      'rule:d',
      'rule:B',
      'rule:a-1',
      'rule:b',
      'rule:a',
    ]);
  });

  it('contains the strata and the number of arguments of each predicate', () => {
    const set = setOf(...THREE);
    expect(set.strataCount).toBe(3);
    expect(['start', 'node', 'member', 'reach', 'lost', 'fine', 'other'].map(set.stratumOf)).toEqual([
      0, 0, 0, 0, 1, 2, 0,
    ]);
    expect(['start', 'reach', 'member', 'property', 'other'].map(set.arityOf)).toEqual([1, 1, 2, 3, undefined]);
    expect(set.rules.map(({ rule, stratum }) => [rule.id, stratum])).toEqual([
      ['rule:fine', 2],
      ['rule:lost', 1],
      ['rule:reach', 0],
    ]);
  });

  it('has no strata if it has no rules', () => {
    expect(setOf()).toMatchObject({ rules: [], strataCount: 0 });
  });

  it('keeps its strata when it is reduced to its enabled rules', () => {
    const all = setOf(THREE[0]!, THREE[1]!.replace('rule:lost', 'rule:lost disabled'), THREE[2]!);
    const enabled = enabledOf(all);
    expect(enabled.rules.map(({ rule, stratum }) => [rule.id, stratum])).toEqual([
      ['rule:fine', 2],
      ['rule:reach', 0],
    ]);
    expect([enabled.strataCount, enabled.stratumOf('lost'), enabled.arityOf('lost')]).toEqual([3, 1, 1]);
    expect(all.rules.length).toBe(3);
  });

  it('does not change the rules it is made from', () => {
    const rules = [parsedOf('rule:b: p(?X) :- q(?X)'), parsedOf('rule:a: p(?X) :- q(?X)')];
    const outcome = checkRuleSet(rules);
    expect('set' in outcome && outcome.set.rules.map(({ rule }) => rule.id)).toEqual(['rule:a', 'rule:b']);
    expect(rules.map(({ rule }) => rule.id)).toEqual(['rule:b', 'rule:a']);
  });
});

describe('refusing a wrong rule set', () => {
  it('reports every fault in every rule, at its place', () => {
    const error = refusalOf([
      ruleOf('rule:a: p(?X) :- q(?X)'),
      { ...ruleOf('rule:b: p(?Y, 1) :- q(?X)'), priority: 'high' },
      null,
      { id: 'rule:c', if: [], then: { pred: 'p', args: [] } },
      ruleOf('rule:d: r(?X) :- q(?X), not r(?X)'),
    ]);
    expect([error.code, error.status]).toEqual(['invalid_rule', 422]);
    expect(error.errors).toEqual([
      {
        loc: ['body', 'rules', 1, 'priority'],
        msg: 'must be an integer of at most 9007199254740991, not "high"',
      },
      { loc: ['body', 'rules', 2], msg: 'must be a JSON object: a rule, not null' },
      { loc: ['body', 'rules', 3, 'if'], msg: 'must be an array of 1 to 64 conditions; it has 0' },
      {
        loc: ['body', 'rules', 1, 'then', 'args', 0],
        msg: 'rule:b: variable ?Y of the head is bound by no positive atom of the body',
      },
      { loc: ['body', 'rules', 1, 'then', 'args'], msg: 'rule:b: p has 2 arguments here and 1 in rule:a' },
      { loc: ['body', 'rules', 4, 'if'], msg: 'The rules cannot be stratified: r -> not r (rule:d)' },
    ]);
    expect(error.message).toBe(
      'rules[1].priority must be an integer of at most 9007199254740991, not "high"; ' +
        'rules[2] must be a JSON object: a rule, not null; ' +
        'rules[3].if must be an array of 1 to 64 conditions; it has 0; ' +
        'rule:b: variable ?Y of the head is bound by no positive atom of the body; ' +
        'rule:b: p has 2 arguments here and 1 in rule:a (and 1 more).',
    );
  });

  it('reports the same errors from checkRuleSet', () => {
    const outcome = checkRuleSet([parsedOf('rule:a: p(?Y) :- q(?X), not p(?X)')]);
    expect('errors' in outcome && outcome.errors).toEqual([
      {
        loc: ['body', 'then', 'args', 0],
        msg: 'rule:a: variable ?Y of the head is bound by no positive atom of the body',
      },
      { loc: ['body', 'if'], msg: 'The rules cannot be stratified: p -> not p (rule:a)' },
    ]);
  });

  it('reports each rule whose id is invalid only once', () => {
    const bad = { ...ruleOf('rule:a: p(?X) :- q(?X)'), id: 5 };
    expect(refusalOf([bad, bad]).errors?.map(({ loc }) => loc.join('.'))).toEqual([
      'body.rules.0.id',
      'body.rules.1.id',
    ]);
  });

  it('happens for more than 1,000 rules, and for more than 10,000 conditions', () => {
    const rule = (index: number, conditions = 1) => ({
      id: `rule:r${index}`,
      if: Array.from({ length: conditions }, () => ({ pred: 'q', args: ['?X'] })),
      then: { pred: 'p', args: ['?X'] },
    });
    const rules = (count: number, conditions: number) => Array.from({ length: count }, (_, i) => rule(i, conditions));
    expect(readRuleSet(rules(1000, 10), ['body', 'rules']).rules.length).toBe(1000);
    expect(refusalOf(rules(1001, 1)).message).toBe('rules must be an array of at most 1000 rules; it has 1001.');
    expect(refusalOf([...rules(1000, 10).slice(1), rule(1000, 11)]).message).toBe(
      'rule:r1000: the rules of a set have at most 10000 conditions together, these have 10001.',
    );
    const outcome = checkRuleSet(Array.from({ length: 1001 }, (_, i) => parsedOf(`rule:r${i}: p(?X) :- q(?X)`)));
    expect('errors' in outcome && outcome.errors.map(({ msg }) => msg)).toEqual([
      'rule:r1000: a set holds at most 1000 rules; delete or join some',
    ]);
  });

  it('reports at most 200 errors in the answer', () => {
    const wrong = { pred: 'Q', args: Array(16).fill(null) };
    const error = refusalOf(Array(20).fill({ id: 'rule:a', if: Array(64).fill(wrong), then: wrong }));
    expect(error.errors?.length).toBe(200);
    // These errors are in the first rule. The other rules were not checked any more.
    expect(error.message).toMatch(/ \(and 1100 more\)\.$/);
  });
});
