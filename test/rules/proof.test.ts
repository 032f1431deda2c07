// Tests the proofs of derived facts. Each contains every fact once and only what the goal depends
// on, has the documented fields, and may have any depth.

import { describe, expect, test } from 'vitest';
import { checkProof } from '../../src/rules/check-proof.ts';
import { factText, readFactText } from '../../src/rules/fact-text.ts';
import { type Proof, type ProvenFacts, proofOf, proofSteps, unprovedOf } from '../../src/rules/proof.ts';
import { hedgesOf } from '../../src/rules/proof-hedges.ts';
import type { Constant } from '../../src/rules/rule.ts';
import { readRuleSet } from '../../src/rules/rule-set.ts';
import { drained, modelOf, tagsOf } from './evaluated.ts';
import type { WireFact, WireRule } from './naive-evaluator.ts';

const NO_TAGS = { stepTag: (fact: number) => `STEP-${fact + 1}`, ruleTag: () => 'RULE-1', edge: () => undefined };

function fact(pred: string, ...args: Constant[]): WireFact {
  return { pred, args };
}

function proofFor(rules: readonly WireRule[], facts: readonly WireFact[], goal: WireFact, times?: Map<number, number>) {
  const model = modelOf(rules, facts);
  return proofOf(model, model.find(goal.pred, goal.args)!, tagsOf(model, times), 1);
}

const MEETINGS: WireFact[] = [
  { pred: 'member', args: [7, 1] },
  { pred: 'member', args: [7, 2] },
  { pred: 'member', args: [9, 2] },
  { pred: 'member', args: [9, 3] },
  { pred: 'weight', args: [7, 0.5] },
];
const TIMES = new Map([
  [7, 100],
  [9, 200],
]);
const MET: WireRule = {
  id: 'rule:met',
  if: [
    fact('member', '?E', '?A'),
    { compare: ['?A', '!=', '?B'] },
    fact('member', '?E', '?B'),
    { not: fact('formation', '?E', 'escort') },
  ],
  then: { ...fact('met', '?A', '?B'), confidence: 0.9 },
};
const KNOWS: WireRule = {
  id: 'rule:knows',
  if: [fact('met', '?A', '?B'), fact('met', '?B', '?C'), { compare: ['?A', '=', 1] }],
  then: { ...fact('knows', '?A', '?C'), confidence: 0.5 },
};

describe('a proof', () => {
  test('has exactly the documented fields', () => {
    const proof = proofFor([MET, KNOWS], MEETINGS, fact('knows', 1, 3), TIMES);
    const evidence = (id: string, edge: number, member: number) => ({
      id,
      kind: 'evidence',
      fact: `member(${edge}, ${member})`,
      predicate: 'member',
      args: [edge, member],
      confidence: 1,
      hedge_tag: `HEDGE-${edge}`,
      edge_id: edge,
      table: 'meetings',
      event_ts: TIMES.get(edge),
    });
    const met = (id: string, args: number[], step: number, premises: string[]) => ({
      id,
      kind: 'conclusion',
      fact: `met(${args.join(', ')})`,
      predicate: 'met',
      args,
      confidence: 0.9,
      rule_id: 'rule:met',
      rule_tag: 'RULE-2',
      step_tag: `STEP-${step}`,
      premises,
    });
    expect(proof).toEqual({
      proof_id: 'proof-1',
      goal: 'knows(1, 3)',
      status: 'proved',
      confidence: 0.45,
      depth: 2,
      nodes: [
        evidence('n1', 7, 1),
        evidence('n2', 7, 2),
        { id: 'n3', kind: 'guard', compare: [1, '!=', 2] },
        { id: 'n4', kind: 'absence', predicate: 'formation', args: [7, 'escort'] },
        met('n5', [1, 2], 3, ['n1', 'n3', 'n2', 'n4']),
        evidence('n6', 9, 2),
        evidence('n7', 9, 3),
        { id: 'n8', kind: 'guard', compare: [2, '!=', 3] },
        { id: 'n9', kind: 'absence', predicate: 'formation', args: [9, 'escort'] },
        met('n10', [2, 3], 5, ['n6', 'n8', 'n7', 'n9']),
        { id: 'n11', kind: 'guard', compare: [1, '==', 1] },
        {
          id: 'n12',
          kind: 'conclusion',
          fact: 'knows(1, 3)',
          predicate: 'knows',
          args: [1, 3],
          confidence: 0.45,
          rule_id: 'rule:knows',
          rule_tag: 'RULE-1',
          step_tag: 'STEP-2',
          premises: ['n5', 'n10', 'n11'],
        },
      ],
      edges: [
        ...['n1', 'n3', 'n2', 'n4'].map((from) => ({ from, to: 'n5', role: 'premise' })),
        ...['n6', 'n8', 'n7', 'n9'].map((from) => ({ from, to: 'n10', role: 'premise' })),
        ...['n5', 'n10', 'n11'].map((from) => ({ from, to: 'n12', role: 'premise' })),
      ],
    });
    expect(checkProof(proof, { rules: [MET, KNOWS] })).toEqual([]);
  });

  test('contains each fact, absence and guard once, however often it is used', () => {
    const rules: WireRule[] = [
      { id: 'rule:a', if: [fact('b', '?X'), { not: fact('c', 1) }, { not: fact('c', 1) }], then: fact('a', '?X') },
      { id: 'rule:d', if: [fact('a', '?X'), fact('a', '?Y'), { not: fact('c', 1) }], then: fact('d', '?X', '?Y') },
      { id: 'rule:e', if: [fact('d', '?X', '?Y'), fact('a', '?X'), fact('d', '?Y', '?X')], then: fact('e') },
    ];
    const proof = proofFor(rules, [fact('b', 5)], fact('e'));
    const goal = proof.nodes.at(-1)!;
    expect(proof.nodes.map((node) => ('predicate' in node ? node.predicate : ''))).toEqual(['b', 'c', 'a', 'd', 'e']);
    expect(goal).toMatchObject({ fact: 'e()', args: [], premises: ['n4', 'n3', 'n4'] });
    expect(proof.edges.filter(({ to }) => to === goal.id).map(({ from }) => from)).toEqual(['n4', 'n3']);
    expect(proof.depth).toBe(3);
    expect(checkProof(proof, { rules, known: (pred) => (pred === 'b' ? 'given' : undefined) })).toEqual([]);
  });

  test('contains only the fact itself if the fact is given', () => {
    const proof = proofFor([MET], MEETINGS, fact('weight', 7, 0.5), TIMES);
    expect(proof).toMatchObject({ goal: 'weight(7, 0.5)', confidence: 1, depth: 0, edges: [] });
    expect(proof.nodes).toHaveLength(1);
    expect(checkProof(proof)).toEqual([]);
  });

  test('has no fields of an edge in evidence whose first argument is not an edge', () => {
    const rules = [{ id: 'rule:a', if: [fact('b', '?X')], then: fact('a', '?X') }];
    for (const value of [3, 'x', true]) {
      const [evidence] = proofFor(rules, [fact('b', value)], fact('a', value)).nodes;
      expect(Object.keys(evidence!)).toEqual(['id', 'kind', 'fact', 'predicate', 'args', 'confidence']);
    }
  });

  test('is empty for a goal that does not hold', () => {
    const proof = unprovedOf('close', [1, 'a "b"'], 4);
    expect(proof).toEqual({
      proof_id: 'proof-4',
      goal: 'close(1, "a \\"b\\"")',
      status: 'unproved',
      confidence: 0,
      depth: 0,
      nodes: [],
      edges: [],
    });
    expect(checkProof(proof)).toEqual([]);
  });
});

/**
 * Returns a model in which `up(n)` follows from `up(n - 1)` and edge n. Even handles are facts, and
 * odd ones are edges.
 */
function ladder(height: number): { model: ProvenFacts; goal: number; rule: WireRule } {
  const rule: WireRule = {
    id: 'rule:up',
    if: [fact('up', '?N'), fact('member', '?M', '?N'), { compare: ['?M', '>', '?N'] }],
    then: fact('up', '?M'),
  };
  const [checked] = readRuleSet([rule], ['body', 'rules']).rules;
  const model: ProvenFacts = {
    factOf: (handle) => {
      const number = Math.floor(handle / 2);
      return handle % 2 === 1 ? fact('member', number, number - 1) : fact('up', number);
    },
    confidenceOf: () => 1,
    derivationOf: (handle) =>
      handle % 2 === 1 || handle === 0 ? undefined : { rule: checked!, premises: [handle - 2, handle + 1] },
  };
  return { model, goal: 2 * height, rule };
}

describe('a proof 100,000 conclusions deep', () => {
  const { model, goal, rule } = ladder(100_000);
  const tags = { ...NO_TAGS, edge: (id: number) => ({ table: 'meetings', event_ts: id }) };
  // The fact at the start does not come from an edge.
  const plain = { ...tags, edge: (id: number) => (id === 0 ? undefined : tags.edge(id)) };

  test('is written in steps, and checked', () => {
    const steps = proofSteps(model, goal, plain, 1);
    let yields = 0;
    let proof: Proof | undefined;
    for (let step = steps.next(); ; step = steps.next()) {
      if (step.done) {
        proof = step.value;
        break;
      }
      yields++;
    }
    expect(yields).toBeGreaterThan(100);
    expect(proof.depth).toBe(100_000);
    expect(proof.nodes.length).toBe(300_001);
    const known = (pred: string, args: readonly Constant[]) => (pred === 'up' && args[0] === 0 ? 'given' : undefined);
    expect(checkProof(proof, { rules: [rule], known })).toEqual([]);
  });

  test('names its edges in order', () => {
    const ids = drained(hedgesOf(model, goal, (id) => id > 0));
    expect(ids.length).toBe(100_000);
    expect(ids.every((id, at) => id === at + 1)).toBe(true);
  });
});

test('a derivation in a circle is reported as a fault of the model, and does not hang', () => {
  const { model } = ladder(3);
  const circle = { ...model, derivationOf: (handle: number) => model.derivationOf(handle === 0 ? 6 : handle) };
  expect(() => proofOf(circle, 6, NO_TAGS, 1)).toThrow(/from itself/);
});

test('edges that are reached in many ways are named once', () => {
  const rules: WireRule[] = [
    { id: 'rule:a', if: [fact('member', '?E', '?X')], then: fact('a', '?X') },
    {
      id: 'rule:b',
      if: [fact('a', '?X'), fact('a', '?Y'), fact('weight', '?E', '?W')],
      then: fact('b', '?X', '?Y', '?W'),
    },
  ];
  const model = modelOf(rules, MEETINGS);
  const edgesOf = (pred: string, ...args: Constant[]) => drained(hedgesOf(model, model.find(pred, args)!));
  expect(edgesOf('b', 3, 1, 0.5)).toEqual([7, 9]);
  expect(edgesOf('b', 1, 1, 0.5)).toEqual([7]);
  expect(edgesOf('member', 9, 3)).toEqual([9]);
  expect(drained(hedgesOf(model, model.find('b', [3, 1, 0.5])!, (id) => id !== 7))).toEqual([9]);
});

test('facts have texts that are parsed back to the same facts', () => {
  const cases: [WireFact, string][] = [
    [fact('close', 12, 15), 'close(12, 15)'],
    [fact('p'), 'p()'],
    [fact('p', 'a, b', true, -0.5, ''), 'p("a, b", true, -0.5, "")'],
    [fact('_x', 'é\n"', 1e21), '_x("é\\n\\"", 1e+21)'],
  ];
  for (const [{ pred, args }, text] of cases) {
    expect(factText(pred, args)).toBe(text);
    expect(readFactText(text)).toEqual({ predicate: pred, args });
  }
  for (const text of ['', 'p', 'p(', 'p)', 'P(1)', 'p(1,2)', 'p(1, null)', 'p([1])', 'p(1) ', '(1)', 'p(1)]+[(2)'])
    expect(readFactText(text), text).toBeUndefined();
});
