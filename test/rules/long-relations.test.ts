// Evaluates relations that outgrow their initial capacity, with every way of finding rows. The
// right facts must be derived, in small steps.

import { describe, expect, it } from 'vitest';
import { BaseFacts } from '../../src/rules/base-facts.ts';
import { evaluate } from '../../src/rules/evaluate.ts';
import type { Constant } from '../../src/rules/rule.ts';
import { readRuleSet } from '../../src/rules/rule-set.ts';

const N = 300;

function derived(rules: readonly object[], base: BaseFacts): { facts: string[]; steps: number } {
  const set = readRuleSet(rules, ['rules']);
  let steps = 0;
  const counted = function* () {
    const model = yield* evaluate(set, base);
    return { model, handles: yield* model.derived() };
  };
  const run = counted();
  for (let step = run.next(); ; step = run.next()) {
    steps++;
    if (step.done !== true) continue;
    const { model, handles } = step.value;
    // There are so many facts that an `expect` for each would take longer than the work that is
    // checked.
    for (const [place, fact] of handles.entries()) {
      const { pred, args } = model.factOf(fact);
      const isItself = model.placeOf(fact) === place && model.find(pred, args) === fact;
      if (!isItself || model.ruleOf(fact) !== model.derivationOf(fact)!.rule)
        expect.fail(`fact ${place} is not found as itself: ${pred} ${JSON.stringify(args)}`);
    }
    return { facts: Array.from(handles, (fact) => JSON.stringify(model.factOf(fact))), steps };
  }
}

function rule(id: string, then: object, ...body: object[]): object {
  return { id: `rule:${id}`, if: body, then };
}

function atom(pred: string, ...args: Constant[]): object {
  return { pred, args };
}

function written(pred: string, ...args: Constant[]): string {
  return JSON.stringify({ pred, args });
}

describe('long relations', () => {
  it('have the right rows for pairs that are found by their values, without a hash', () => {
    const base = new BaseFacts();
    for (let x = 0; x < N; x++) base.add('n', x);
    const { facts, steps } = derived([rule('a', atom('p', '?X', '?Y'), atom('n', '?X'), atom('n', '?Y'))], base);
    const wanted = Array.from({ length: N * N }, (_, i) => written('p', Math.floor(i / N), i % N));
    expect(facts).toEqual(wanted);
    expect(steps).toBeGreaterThan(10);
  });

  it('have the right rows for pairs among many constants, found by hash, with the best confidences', () => {
    const base = new BaseFacts();
    for (let x = 0; x < 20_000; x++) base.add('e', x, `t${x}`);
    const low = rule('low', { ...atom('p', '?X', '?Y'), confidence: 0.5 }, atom('e', '?X', '?Y'));
    const turned = rule('turned', atom('p', '?Y', '?X'), atom('p', '?X', '?Y'), atom('e', '?X', '?Y'));
    const { facts } = derived([low, turned], base);
    const forth = Array.from({ length: 20_000 }, (_, x) => written('p', x, `t${x}`));
    const texts = Array.from({ length: 20_000 }, (_, x) => x).sort((a, b) => (`t${a}` < `t${b}` ? -1 : 1));
    expect(facts).toEqual([...forth, ...texts.map((x) => written('p', `t${x}`, x))]);
  });

  it('have the right rows for triples that are found in many rounds', () => {
    const base = new BaseFacts();
    for (let x = 0; x < 200; x++) base.add('e', x, (x + 1) % 200);
    const { facts } = derived(
      [
        rule('a', atom('p', '?X', '?Y', true), atom('e', '?X', '?Y')),
        rule('b', atom('p', '?X', '?Z', true), atom('p', '?X', '?Y', true), atom('e', '?Y', '?Z')),
      ],
      base,
    );
    expect(facts).toEqual(Array.from({ length: 40_000 }, (_, i) => written('p', Math.floor(i / 200), i % 200, true)));
  });

  it('have their texts ordered by code points, however many there are', () => {
    const base = new BaseFacts();
    const texts = Array.from({ length: 5000 }, (_, i) => `${String.fromCodePoint(0xe000 + ((i * 7) % 97))}${i}`);
    for (const text of [...texts, '\u{1f600}', '\u{10000}b', 'a']) base.add('n', text);
    const { facts } = derived([rule('a', atom('p', '?X'), atom('n', '?X'))], base);
    expect(facts[0]).toBe(written('p', 'a'));
    expect(facts.slice(-2)).toEqual([written('p', '\u{10000}b'), written('p', '\u{1f600}')]);
    const points = facts.map((fact) =>
      [...(JSON.parse(fact) as { args: string[] }).args[0]!].map((one) => one.codePointAt(0)!),
    );
    expect(points.every((each, at) => at === 0 || before(points[at - 1]!, each))).toBe(true);
  });
});

function before(a: readonly number[], b: readonly number[]): boolean {
  for (let at = 0; at < Math.min(a.length, b.length); at++) if (a[at] !== b[at]) return a[at]! < b[at]!;
  return a.length < b.length;
}
