// `hedgerow check-proof`: its input, its output, and its exit codes.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type CheckProofFlags, checkProofCommand } from '../../src/cli/check-proof/command.ts';
import { hedgesOf } from '../../src/rules/proof-hedges.ts';
import { drained, modelOf, proofsOf, tagsOf } from '../rules/evaluated.ts';
import { stream, TestWorld } from './support.ts';

const EDGE = { hedge_tag: '', weight: null, mean_dist_m: null, formation: null, score: 1, properties: {} };
const EDGES = [
  { ...EDGE, edge_id: 1, event_ts: 10, members: [1, 2] },
  { ...EDGE, edge_id: 2, event_ts: 20, members: [2, 3], formation: 'line' },
];
const FACTS = EDGES.flatMap(({ edge_id, members, formation }) => [
  ...members.map((member) => ({ pred: 'member', args: [edge_id, member] })),
  ...(formation === null ? [] : [{ pred: 'formation', args: [edge_id, formation] }]),
]);
const MET = {
  id: 'rule:met',
  if: [
    { pred: 'member', args: ['?E', '?A'] },
    { pred: 'member', args: ['?E', '?B'] },
    { compare: ['?A', '<', '?B'] as [string, string, string] },
    { not: { pred: 'formation', args: ['?E', 'circle'] } },
  ],
  then: { pred: 'met', args: ['?A', '?B'], confidence: 0.9 },
};

const model = modelOf([MET], FACTS);
const proofs = proofsOf(model, tagsOf(model, new Map(EDGES.map(({ edge_id, event_ts }) => [edge_id, event_ts]))));
const derivedFacts = [...drained(model.derived())].map((fact, at) => ({
  step_tag: `STEP-${at + 1}`,
  fact: proofs[at]!.goal,
  predicate: 'met',
  args: model.factOf(fact).args,
  confidence: 0.9,
  rule_id: 'rule:met',
  rule_tag: 'RULE-1',
  hedge_tags: drained(hedgesOf(model, fact)).map((id) => `HEDGE-${id}`),
}));
const ANSWER = { query: '', answer: '', derived_facts: derivedFacts, proofs, all_edges: EDGES, reasoning_ms: 1 };

let world: TestWorld;
beforeEach(() => {
  world = new TestWorld();
});
afterEach(() => world.remove());

async function check(document: unknown, flags: CheckProofFlags = {}): Promise<number> {
  world.out = '';
  world.err = '';
  world.file('in.json', typeof document === 'string' ? document : JSON.stringify(document));
  return checkProofCommand('in.json', flags, world);
}

/** Returns a changed copy of the answer. */
function changed(change: (answer: typeof ANSWER) => void): typeof ANSWER {
  const copy = structuredClone(ANSWER);
  change(copy);
  return copy;
}

describe('check-proof reads', () => {
  test('one proof, several proofs, or a whole answer', async () => {
    world.file('rules.json', JSON.stringify([MET]));
    for (const [document, count] of [
      [proofs[0], '1 proof'],
      [proofs, '2 proofs'],
      [{ proofs }, '2 proofs'],
      [ANSWER, '2 proofs'],
      [{ ...ANSWER, proofs: [], derived_facts: [] }, '0 proofs'],
    ] as const) {
      expect(await check(document, { rules: 'rules.json' }), world.err).toBe(0);
      expect(world.out).toBe(`${count}, all valid\n`);
    }
    expect(world.err).toBe('');
  });

  test('standard input when the file name is missing or -', async () => {
    for (const file of [undefined, '-']) {
      world.out = '';
      world.stdin = stream([JSON.stringify(ANSWER).slice(0, 50), JSON.stringify(ANSWER).slice(50)]);
      expect(await checkProofCommand(file, {}, world)).toBe(0);
      expect(world.out).toMatch(/^2 proofs, all valid; .*--rules FILE\n$/);
    }
  });

  test('rules as an array, as {rules} or as one rule', async () => {
    for (const rules of [[MET], { rules: [MET] }, MET]) {
      world.file('rules.json', JSON.stringify(rules));
      expect(await check(ANSWER, { rules: 'rules.json' }), world.err).toBe(0);
    }
  });
});

describe('check-proof reports', () => {
  test('each bad proof in one line, and exits with 1', async () => {
    const answer = changed(({ proofs: [, second] }) => {
      second!.depth = 7;
      second!.edges = [];
    });
    expect(await check(answer)).toBe(1);
    const [line, last] = world.out.split('\n');
    expect(line).toMatch(/^proof-2: the edge .* is missing; .*; the depth is 1, not 7$/);
    expect(last).toBe('2 proofs, 1 fault');
    expect(await check([{}, null, 5])).toBe(1);
    expect(world.out).toMatch(
      /^the proof at 1: .*; and 2 more\nthe proof at 2: .*not null\nthe proof at 3: .*not 5\n3 proofs, 3 faults/,
    );
  });

  test('a proof that contradicts the rules', async () => {
    world.file('rules.json', JSON.stringify([{ ...MET, then: { ...MET.then, confidence: 0.5 } }]));
    expect(await check(ANSWER, { rules: 'rules.json' })).toBe(1);
    expect(world.out).toMatch(/proof-1: .*by rule:met its confidence is 0.5, not 0.9/);
  });

  test('a proof that contradicts the edges of the answer', async () => {
    const edge = changed(({ all_edges: [first] }) => Object.assign(first!, { members: [2, 5] }));
    expect(await check(edge)).toBe(1);
    expect(world.out).toMatch(/"member\(1, 1\)" does not hold/);
    const circle = changed(({ all_edges: [, second] }) => Object.assign(second!, { formation: 'circle' }));
    expect(await check(circle)).toBe(1);
    expect(world.out).toMatch(/is absent, but it holds/);
  });

  test.each([
    ['confidence', 0.8],
    ['rule_tag', 'RULE-2'],
    ['rule_id', 'rule:other'],
    ['step_tag', 'STEP-2'],
  ])('a proof that contradicts the derived facts of the answer: %s', async (field, value) => {
    const answer = changed(({ derived_facts: [first] }) => Object.assign(first!, { [field]: value }));
    expect(await check(answer)).toBe(1);
    expect(world.out).toMatch(new RegExp(`^proof-1: .*${field} is .*, but derived_facts says "?${value}"?\n`));
  });

  test('a derived fact that names other edges, has no proof or is missing', async () => {
    const tags = changed(({ derived_facts: [first] }) => Object.assign(first!, { hedge_tags: ['HEDGE-2'] }));
    expect(await check(tags)).toBe(1);
    expect(world.out).toMatch(/rests on edges that are not the hedge_tags/);
    expect(await check(changed((answer) => answer.proofs.pop()))).toBe(1);
    expect(world.out).toBe('"met(2, 3)" is derived, but has no proof\n1 proof, 1 fault\n');
    expect(await check(changed((answer) => answer.derived_facts.pop()))).toBe(1);
    expect(world.out).toMatch(/^proof-2: .*"met\(2, 3\)" does not hold/);
  });
});

describe('a wrong call', () => {
  test.each([
    ['an empty file', '', /in\.json is empty/],
    ['invalid JSON', '{"proofs": [', /no JSON document/],
    ['an object without proofs', '{"a": 1}', /no proof in it/],
    ['a number', '5', /no proof in it/],
    ['proofs that are not a list', '{"proofs": 5}', /proofs must be an array/],
    ['an invalid edge', '{"proofs": [], "all_edges": [{"edge_id": 1}]}', /all_edges\[0\] is not an edge/],
    ['an invalid derived fact', '{"proofs": [], "derived_facts": [null]}', /derived_facts\[0\] is not a derived fact/],
  ])('fails with one line when the input is wrong: %s', async (_, text, message) => {
    expect(await check(text)).toBe(1);
    expect(world.err).toMatch(message);
    expect(world.err).toMatch(/^hedgerow: [^\n]*\n$/);
    expect(world.out).toBe('');
  });

  test('fails with one line when a file is missing or a rule is invalid', async () => {
    expect(await checkProofCommand('none.json', {}, world)).toBe(1);
    expect(await checkProofCommand('.', {}, world)).toBe(1);
    world.file('bytes.json', Uint8Array.of(0x22, 0xff, 0x22));
    expect(await checkProofCommand('bytes.json', {}, world)).toBe(1);
    expect(world.err).toMatch(/no file none\.json\.\n.*cannot be read \(EISDIR\)\.\n.*not a JSON document in UTF-8/);
    world.stdin = Object.assign(stream([]), { isTTY: true });
    expect(await checkProofCommand(undefined, {}, world)).toBe(2);
    expect(await checkProofCommand('-', { rules: '-' }, world)).toBe(2);
    expect(world.err).toMatch(/Name a FILE.*\n.*Only one of/);
    for (const [rules, message] of [
      [5, /array of rules/],
      [{ rules: [{ id: 'rule:met', body_size: 4 }] }, /summaries/],
      [[{ ...MET, if: [] }], /rules\[0\]\.if must be/],
    ] as const) {
      world.file('rules.json', JSON.stringify(rules));
      expect(await check(ANSWER, { rules: 'rules.json' })).toBe(1);
      expect(world.err).toMatch(message);
    }
  });
});
