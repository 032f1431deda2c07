// Tests unsafe rules with their messages. More unsafe rules are in golden/06-unsafe.txt.

import { describe, expect, it } from 'vitest';
import { BASE_PREDICATES } from '../../src/rules/base-predicates.ts';
import { readRule } from '../../src/rules/parse-rule.ts';
import { safetyFaults } from '../../src/rules/safety.ts';
import { ruleOf } from './rule-text.ts';

function faultsOf(text: string) {
  const { parsed, faults } = readRule(ruleOf(text), ['body']);
  expect(faults).toEqual([]);
  return safetyFaults(parsed!);
}

function placesOf(text: string): string[] {
  return faultsOf(text).map(({ loc }) => loc.join('.'));
}

describe('a safe rule', () => {
  it.each([
    'rule:a: p(?X) :- q(?X)',
    'rule:a: p() :- q()',
    'rule:a: p(1) :- q(?X)',
    'rule:a: p(?X) :- not r(?X), ?X < 3, q(?X)',
    'rule:a: p(?X, ?Y) :- q(?X), r(?Y), not s(?Y, ?X), ?X != ?Y',
    'rule:a: p(?X) :- q(?X), not r(), 1 < 2',
    'rule:a: p(?X) :- member(?E, ?X), not member(?E, 5), weight(?E, ?W), ?W > 0.5',
    'rule:a: p(?E) :- property(?E, "speed", ?V), size(?E, 2), at(?E, ?T)',
  ])('has no faults: %s', (text) => {
    expect(faultsOf(text)).toEqual([]);
  });
});

describe('the faults of an unsafe rule', () => {
  it.each([
    ['rule:a: p(1, ?Y, ?Y) :- q(?X)', ['body.then.args.1']],
    ['rule:a: p(?X) :- q(?X), not r(?X, 1, ?Z)', ['body.if.1.not.args.2']],
    ['rule:a: p(?X) :- q(?X), ?Z < ?X', ['body.if.1.compare.0']],
    ['rule:a: p(?X) :- q(?X), ?X < ?Z', ['body.if.1.compare.2']],
    ['rule:a: p(?X) :- q(?X), ?Y < ?Z', ['body.if.1.compare.0', 'body.if.1.compare.2']],
    ['rule:a: p(1) :- 1 < 2', ['body.if']],
    ['rule:a: at(?X, 1) :- q(?X)', ['body.then.pred']],
    ['rule:a: p(?X) :- q(?X), at(?X)', ['body.if.1.args']],
    ['rule:a: p(?X) :- q(?X), not at(?X)', ['body.if.1.not.args']],
  ])('have the right places in %s', (text, places) => {
    expect(placesOf(text)).toEqual(places);
  });
});

describe('base predicates', () => {
  it.each([...BASE_PREDICATES])('include %s, which has %i arguments and cannot be a head', (pred, arity) => {
    const args = (count: number) => Array.from({ length: count }, (_, index) => `?X${index}`).join(', ');
    expect(faultsOf(`rule:a: p(1) :- ${pred}(${args(arity)})`)).toEqual([]);
    for (const wrong of [arity - 1, arity + 1]) {
      expect(faultsOf(`rule:a: p(1) :- ${pred}(${args(wrong)})`).map(({ msg }) => msg)).toEqual([
        `rule:a: ${pred} has ${arity} argument${arity === 1 ? '' : 's'}, not ${wrong}`,
      ]);
    }
    expect(placesOf(`rule:a: ${pred}(${args(arity)}) :- q(${args(arity)})`)).toEqual(['body.then.pred']);
  });

  it('are the documented ones', () => {
    expect(Object.fromEntries(BASE_PREDICATES)).toEqual({
      hyperedge: 1,
      role: 3,
      at: 2,
      until: 2,
      member: 2,
      weight: 2,
      mean_dist: 2,
      formation: 2,
      size: 2,
      bucket: 2,
      property: 3,
      supersedes: 2,
    });
  });
});

describe('messages about faults', () => {
  it('show long constants in a shortened form', () => {
    const [fault] = faultsOf(`rule:a: p(?X) :- q(?X), ?Y = "${'x'.repeat(500)}"`);
    expect(fault!.msg).toBe(
      `rule:a: variable ?Y of the guard ?Y == "${'x'.repeat(60)}..." is bound by no positive atom of the body`,
    );
  });
});
