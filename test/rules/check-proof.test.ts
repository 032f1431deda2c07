// Tests the proof checker: what it finds in forged proofs, with and without the rules, and that no
// input makes it throw.

import { describe, expect, test } from 'vitest';
import { checkProof, proofChecker } from '../../src/rules/check-proof.ts';
import { type EdgeSaying, knownOfEdges } from '../../src/rules/known-of-edges.ts';
import type { ConclusionNode, EvidenceNode, Proof, ProofNode } from '../../src/rules/proof.ts';
import { fc } from '../support/property.ts';
import { Random } from '../support/random.ts';
import { modelOf, proofsOf, tagsOf } from './evaluated.ts';
import type { Value, WireFact, WireRule } from './naive-evaluator.ts';
import { everyForgery } from './tamper.ts';

function fact(pred: string, ...args: Value[]): WireFact {
  return { pred, args };
}

const EDGES: EdgeSaying[] = [
  edge(3, 100, [1, 2], { weight: 0.5 }),
  edge(4, 160, [2, 3], { formation: 'line' }),
  edge(6, 300, [3, 4], { properties: { kind: 'mail', urgent: true, note: null } }),
];

function edge(id: number, eventTs: number, members: number[], more: Partial<EdgeSaying>): EdgeSaying {
  const none = { weight: null, mean_dist_m: null, formation: null, properties: {} };
  return { edge_id: id, event_ts: eventTs, members, ...none, ...more };
}

const FACTS: WireFact[] = EDGES.flatMap(({ edge_id: id, event_ts: at, members }) => [
  fact('at', id, at),
  ...members.map((member) => fact('member', id, member as number)),
]).concat(fact('formation', 4, 'line'), fact('property', 6, 'kind', 'mail'));

/**
 * Two nodes are linked if they meet, but not in a circle. A way follows links in ascending order of
 * their times, unless its ends are linked directly at its last time.
 */
const RULES: WireRule[] = [
  {
    id: 'rule:link',
    if: [
      fact('member', '?E', '?A'),
      fact('member', '?E', '?B'),
      fact('at', '?E', '?T'),
      { compare: ['?A', '<', '?B'] },
      { not: fact('formation', '?E', 'circle') },
    ],
    then: { ...fact('link', '?A', '?B', '?T'), confidence: 0.8 },
  },
  { id: 'rule:first', if: [fact('link', '?A', '?B', '?T')], then: fact('way', '?A', '?B', '?T') },
  {
    id: 'rule:next',
    if: [
      { compare: ['?T', '<', '?U'] },
      fact('way', '?A', '?B', '?T'),
      { not: fact('link', '?A', '?C', '?U') },
      fact('link', '?B', '?C', '?U'),
    ],
    then: { ...fact('way', '?A', '?C', '?U'), confidence: 0.5 },
  },
];

const model = modelOf(RULES, FACTS);
const proofs = proofsOf(model, tagsOf(model, new Map(EDGES.map(({ edge_id, event_ts }) => [edge_id, event_ts]))));
const deepest = proofs.find(({ goal }) => goal === 'way(1, 4, 300)')!;
const known = knownOfEdges(EDGES);
const check = proofChecker({ rules: RULES, known });

/** Returns all problems of the forged proof in one text. */
function problemsOf(forge: (proof: Proof) => void, options = { rules: RULES, known }): string {
  const proof = structuredClone(deepest);
  forge(proof);
  return checkProof(proof, options).join('\n');
}

function nodeOf<Kind extends ProofNode['kind']>(proof: Proof, kind: Kind, text: string) {
  const found = proof.nodes.find((node) => node.kind === kind && JSON.stringify(node).includes(text));
  return found as Extract<ProofNode, { kind: Kind }>;
}

function conclusion(proof: Proof, text: string): ConclusionNode {
  return nodeOf(proof, 'conclusion', `"fact":"${text}"`);
}

function evidence(proof: Proof, text: string): EvidenceNode {
  return nodeOf(proof, 'evidence', `"fact":"${text}"`);
}

test('valid proofs pass with rules, with edges, with both and by themselves', () => {
  expect(deepest).toMatchObject({ depth: 4, confidence: 0.2 });
  for (const proof of proofs)
    for (const options of [{}, { rules: RULES }, { known }, { rules: RULES, known }])
      expect(checkProof(proof, options), proof.goal).toEqual([]);
});

/** Each entry has a name, the forgery, and the problem that must be reported. */
const FORGERIES: [string, (proof: Proof) => void, RegExp][] = [
  [
    'the text of a fact',
    (p) => Object.assign(evidence(p, 'at(3, 100)'), { fact: 'at(3, 101)' }),
    /fact is "at\(3, 101\)"/,
  ],
  [
    'arguments',
    (p) => Object.assign(evidence(p, 'member(3, 1)'), { args: [3, 2] }),
    /predicate and args say "member\(3, 2\)"/,
  ],
  ['the type of an argument', (p) => Object.assign(evidence(p, 'member(3, 1)'), { args: [3, '1'] }), /fact is/],
  [
    'an argument that is not a value',
    (p) => Object.assign(evidence(p, 'member(3, 1)'), { args: [3, [1]] }),
    /args must be/,
  ],
  [
    'a confidence above its premises',
    (p) => Object.assign(conclusion(p, 'way(1, 3, 160)'), { confidence: 0.9 }),
    /that of a premise is 0.8/,
  ],
  [
    'a confidence that is too low',
    (p) => Object.assign(conclusion(p, 'way(1, 3, 160)'), { confidence: 0.3 }),
    /its confidence is 0.4, not 0.3/,
  ],
  [
    'the confidence of evidence',
    (p) => Object.assign(evidence(p, 'member(3, 1)'), { confidence: 0.9 }),
    /of evidence is 1/,
  ],
  ['the confidence of the proof', (p) => Object.assign(p, { confidence: 0.4 }), /of the goal is 0.2, not 0.4/],
  ['a confidence above 1', (p) => Object.assign(p, { confidence: 2 }), /from 0 to 1, not 2/],
  [
    'the order of premises',
    (p) => conclusion(p, 'way(1, 3, 160)').premises.reverse(),
    /premise \d.* is not what rule:next asks/,
  ],
  ['a missing edge', (p) => p.edges.shift(), /edge from the premise "n1" to "n6" is missing/],
  ['an additional edge', (p) => p.edges.push({ from: 'n1', to: p.nodes.at(-1)!.id, role: 'premise' }), /of no premise/],
  [
    'an edge from a node that does not exist',
    (p) => p.edges.push({ from: 'x', to: 'y', role: 'premise' }),
    /from "x" to "y"/,
  ],
  ['an edge twice', (p) => p.edges.push(p.edges[0]!), /occurs twice/],
  ['the role of an edge', (p) => Object.assign(p.edges[0]!, { role: 'proof' }), /edges\[0\].role/],
  ['a circle', (p) => circle(p), /rests on itself/],
  ['a missing node', (p) => p.nodes.splice(2, 1), /there is no such node/],
  [
    'an additional node',
    (p) => p.nodes.push({ id: 'n99', kind: 'guard', compare: [1, '<', 2e6] }),
    /does not rest on "n99"/,
  ],
  ['an id twice', (p) => p.nodes.push(p.nodes[0]!), /two nodes have the same id/],
  ['a fact twice', (p) => p.nodes.push({ ...p.nodes[0]!, id: 'n99' }), /another node says/],
  ['a node of an unknown kind', (p) => Object.assign(p.nodes[0]!, { kind: 'axiom' }), /nodes\[0\].kind/],
  ['no node at all', (p) => Object.assign(p, { nodes: [], edges: [] }), /no conclusion is the goal/],
  [
    'a rule that does not exist',
    (p) => Object.assign(conclusion(p, 'way(1, 2, 100)'), { rule_id: 'rule:last' }),
    /no rule "rule:last"/,
  ],
  [
    'another rule',
    (p) => Object.assign(conclusion(p, 'way(1, 2, 100)'), { rule_id: 'rule:link' }),
    /rule:link has 5 conditions/,
  ],
  [
    'one rule with two tags',
    (p) => Object.assign(conclusion(p, 'link(1, 2, 100)'), { rule_tag: 'RULE-9' }),
    /do not belong together/,
  ],
  [
    'a malformed rule tag',
    (p) => Object.assign(conclusion(p, 'link(1, 2, 100)'), { rule_tag: 'RULE-0' }),
    /rule_tag must be RULE-<n>/,
  ],
  [
    'a step tag used twice',
    (p) =>
      Object.assign(conclusion(p, 'link(1, 2, 100)'), {
        step_tag: p.nodes.at(-1)!.kind === 'conclusion' && conclusion(p, deepest.goal).step_tag,
      }),
    /the tag of another/,
  ],
  [
    'another absence',
    (p) => Object.assign(nodeOf(p, 'absence', '[1,3,160]'), { args: [1, 3, 161] }),
    /is not what rule:next asks/,
  ],
  [
    'an absence of a fact that holds',
    (p) => Object.assign(nodeOf(p, 'absence', '[1,3,160]'), { args: [1, 2, 100] }),
    /another node says that it holds/,
  ],
  [
    'an absence of a stored fact',
    (p) => Object.assign(nodeOf(p, 'absence', '[4,"circle"]'), { args: [4, 'line'] }),
    /absent, but it holds/,
  ],
  [
    'a guard that is false',
    (p) => Object.assign(nodeOf(p, 'guard', '[100,"<",160]'), { compare: [160, '<', 100] }),
    /160 < 100 does not hold/,
  ],
  [
    'a guard between values of two types',
    (p) => Object.assign(nodeOf(p, 'guard', '[100,"<",160]'), { compare: [100, '!=', 'a'] }),
    /does not hold/,
  ],
  [
    'another guard',
    (p) => Object.assign(nodeOf(p, 'guard', '[100,"<",160]'), { compare: [100, '<', 161] }),
    /is not what rule:next asks/,
  ],
  [
    'a guard with an unknown operator',
    (p) => Object.assign(nodeOf(p, 'guard', '[100,"<",160]'), { compare: [1, '<>', 2] }),
    /compare must be/,
  ],
  ['the depth', (p) => Object.assign(p, { depth: 3 }), /the depth is 4, not 3/],
  ['the goal', (p) => Object.assign(p, { goal: 'way(1, 3, 160)' }), /no conclusion is the goal/],
  ['the status', (p) => Object.assign(p, { status: 'unproved' }), /neither nodes nor edges/],
  ['an unknown status', (p) => Object.assign(p, { status: 'maybe' }), /status must be/],
  ['the number', (p) => Object.assign(p, { proof_id: '1' }), /proof_id must be proof-<n>/],
  [
    'the tag of an edge',
    (p) => Object.assign(evidence(p, 'member(3, 1)'), { hedge_tag: 'HEDGE-4' }),
    /hedge_tag is "HEDGE-4"/,
  ],
  ['the id of an edge', (p) => Object.assign(evidence(p, 'member(3, 1)'), { edge_id: 4 }), /edge_id is 4/],
  ['the time of an edge', (p) => Object.assign(evidence(p, 'member(3, 1)'), { event_ts: 101 }), /event_ts is 101/],
  ['the table of an edge', (p) => Object.assign(evidence(p, 'member(3, 1)'), { table: 'other' }), /in one table/],
  [
    'evidence with only a part of its edge',
    (p) => Object.assign(evidence(p, 'member(3, 1)'), { table: undefined }),
    /table must be/,
  ],
  ['evidence without an edge', (p) => withoutEdge(p), /names no edge/],
  ['evidence of an edge that does not exist', (p) => moved(p), /"member\(5, 1\)" does not hold/],
  ['a claim instead of a conclusion', (p) => claim(p), /is given without a proof/],
  [
    'a conclusion of a base fact',
    (p) => Object.assign(conclusion(p, 'link(1, 2, 100)'), { predicate: 'at' }),
    /never concluded/,
  ],
  ['no premises', (p) => Object.assign(conclusion(p, 'way(1, 2, 100)'), { premises: [] }), /no fact as a premise/],
];

function circle(proof: Proof): void {
  const goal = proof.nodes.at(-1)!.id;
  const first = conclusion(proof, 'way(1, 2, 100)');
  Object.assign(first, { premises: [goal] });
  proof.edges = proof.edges.filter(({ to }) => to !== first.id);
  proof.edges.push({ from: goal, to: first.id, role: 'premise' });
}

function withoutEdge(proof: Proof): void {
  const node = evidence(proof, 'member(3, 1)');
  for (const field of ['hedge_tag', 'edge_id', 'table', 'event_ts'] as const) delete node[field];
}

/** Changes everything that names edge 3 so that it names edge 5. */
function moved(proof: Proof): void {
  const text = JSON.stringify(proof);
  Object.assign(proof, JSON.parse(text.replace(/HEDGE-3|"edge_id":3|\[3,|\w+\(3,/g, (part) => part.replace('3', '5'))));
}

function claim(proof: Proof): void {
  const { id, fact: text, predicate, args, confidence } = conclusion(proof, 'way(1, 2, 100)');
  proof.nodes = proof.nodes.filter((node) => !JSON.stringify(node).includes('[3,'));
  proof.nodes = proof.nodes.map((node) =>
    node.id === id ? { id, kind: 'evidence', fact: text, predicate, args, confidence } : node,
  );
}

describe('the checker and forged proofs', () => {
  test.each(FORGERIES)('finds a changed proof: %s', (_, forge, problem) => {
    expect(problemsOf(forge)).toMatch(problem);
  });

  test('finds every kind of change to each proof', () => {
    const truth = {
      holds: ({ pred, args }: WireFact) => model.find(pred, args) !== undefined,
      values: [1, 2, 3, 4, 6, 100, 160, 300, 'line'],
    };
    const random = new Random(7);
    let count = 0;
    for (const proof of proofs)
      for (let round = 0; round < 20; round++)
        for (const forgery of everyForgery(proof, truth, random)) {
          if (check(forgery.proof).length === 0) expect.fail(`${forgery.name}: ${JSON.stringify(forgery.proof)}`);
          count++;
        }
    expect(count).toBeGreaterThan(2000);
  });

  test('finds a change of any single value, except of names that a proof alone cannot verify', () => {
    const names = new Set(['proof_id', 'rule_tag', 'step_tag']);
    const missed = leavesOf(deepest).filter((path) => {
      const proof = structuredClone(deepest);
      changeLeaf(proof, path);
      return check(proof).length === 0;
    });
    expect(missed.filter((path) => !names.has(String(path.at(-1))))).toEqual([]);
    expect(leavesOf(deepest).length).toBeGreaterThan(200);
  });
});

type Path = readonly (string | number)[];

function leavesOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  return Object.entries(value).flatMap(([key, inner]) => leavesOf(inner, [...path, key]));
}

/** Replaces a value by another one of the same type. */
function changeLeaf(root: unknown, path: Path): void {
  let at = root as Record<string | number, unknown>;
  for (const key of path.slice(0, -1)) at = at[key] as typeof at;
  const key = path.at(-1)!;
  const value = at[key];
  const operator = { '<': '>', '!=': '==' }[String(value)];
  at[key] = typeof value === 'number' ? (value > 0 && value <= 1 ? value / 2 : value + 1) : (operator ?? `${value}1`);
}

describe('a proof checked without rules', () => {
  test('may pass if some rule could justify it', () => {
    const lower = (proof: Proof) => Object.assign(conclusion(proof, 'way(1, 2, 100)'), { confidence: 0.7 });
    expect(problemsOf(lower, { rules: undefined as never, known })).toBe('');
    expect(problemsOf(lower)).toMatch(/its confidence is 0.8, not 0.7/);
  });

  test('still has its graph, texts, confidences and edges checked', () => {
    const seen = FORGERIES.filter(
      ([, forge]) => problemsOf(forge, { rules: undefined as never, known: undefined as never }) !== '',
    );
    expect(seen.length).toBeGreaterThan(FORGERIES.length - 10);
  });
});

test('an unproved goal contains only its fact', () => {
  const unproved = {
    proof_id: 'proof-1',
    goal: 'link(9, 9, 9)',
    status: 'unproved',
    confidence: 0,
    depth: 0,
    nodes: [],
    edges: [],
  };
  expect(check(unproved)).toEqual([]);
  for (const change of [
    { confidence: 1 },
    { depth: 1 },
    { goal: 'link' },
    { goal: 'at(3, 100)' },
    { nodes: deepest.nodes },
  ])
    expect(check({ ...unproved, ...change }), JSON.stringify(change).slice(0, 50)).toHaveLength(1);
});

test('wrong rules are refused instead of the proofs', () => {
  expect(() => proofChecker({ rules: [{ id: 'rule:x' }] })).toThrow(/is missing/);
  expect(checkProof(deepest, { rules: RULES.map((rule) => ({ ...rule, enabled: false })) })).toEqual([]);
  expect(checkProof(deepest, { rules: [] }).join()).toMatch(/there is no rule "rule:next"/);
});

describe('the checker and arbitrary JSON', () => {
  const json = fc.jsonValue({ maxDepth: 3 });

  test('reports problems for any JSON instead of a proof', () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(check(value).length).toBeGreaterThan(0);
      }),
      { seed: 1, numRuns: 500 },
    );
  });

  test('does not throw for any JSON in any place of a proof', () => {
    const paths = leavesOf(deepest);
    fc.assert(
      fc.property(fc.nat(paths.length - 1), fc.nat(3), json, (at, cut, value) => {
        const proof = structuredClone(deepest) as unknown as Record<string, unknown>;
        let place = proof;
        const path = paths[at]!.slice(0, Math.max(1, paths[at]!.length - cut));
        for (const key of path.slice(0, -1)) place = place[key] as typeof place;
        place[path.at(-1)!] = value;
        expect(Array.isArray(check(proof))).toBe(true);
      }),
      { seed: 2, numRuns: 2000 },
    );
  });
});

test('known edges are looked up fact by fact', () => {
  const cases: [WireFact, string | undefined][] = [
    [fact('hyperedge', 3), 'given'],
    [fact('hyperedge', 5), 'false'],
    [fact('hyperedge', '3'), 'false'],
    [fact('hyperedge', 3, 4), 'false'],
    [fact('at', 3, 100), 'given'],
    [fact('at', 3, '100'), 'false'],
    [fact('member', 4, 3), 'given'],
    [fact('member', 4, 1), 'false'],
    [fact('weight', 3, 0.5), 'given'],
    [fact('weight', 4, 0), 'false'],
    [fact('mean_dist', 3, 1), 'false'],
    [fact('formation', 4, 'line'), 'given'],
    [fact('size', 6, 2), 'given'],
    [fact('size', 6, 3), 'false'],
    [fact('bucket', 6, 30), undefined],
    [fact('property', 6, 'kind', 'mail'), 'given'],
    [fact('property', 6, 'urgent', true), 'given'],
    [fact('property', 6, 'note', ''), 'false'],
    [fact('property', 6, 'toString', 'x'), 'false'],
    [fact('link', 1, 2, 100), undefined],
  ];
  for (const [{ pred, args }, standing] of cases) expect(known(pred, args), pred).toBe(standing);
});
