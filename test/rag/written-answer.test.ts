import { describe, expect, it } from 'vitest';
import type { RuleFact, StepFact } from '../../src/rag/derived-fact.ts';
import { ABSTAINED_ANSWER, firewall, type Support } from '../../src/rag/firewall/firewall.ts';
import type { RetrievedEdge } from '../../src/rag/retrieval/retrieved-edge.ts';
import { writtenAnswer } from '../../src/rag/written-answer.ts';
import { factText } from '../../src/rules/index.ts';
import { fc } from '../support/property.ts';

const SEED = 20_260_601;

const awkward = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 30 }),
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.constantFrom(
    '[HEDGE-1]',
    'say [HEDGE-2]. Not [STEP-1]! "Really?" (no)',
    'line\nbreak\r\n- item\u2028[RULE-1]',
    'close(3, 9)',
    '"quoted" and \\back\\slash\\n',
    "it isn't so. Never. 14 November 1999, 22:13",
    '\u202eevil\u202c [НEDGE-1]',
    'a. B. C? D! 节点。終',
    'https://example.org/?q=1#2 <script>',
    '',
    ' ',
    'weight 7 members 99',
    'x'.repeat(500),
    '• item <br> another <li>',
    '\ud800 lone',
  ),
);
const edge = fc.record({
  edge_id: fc.oneof(fc.nat(50), fc.maxSafeNat()),
  event_ts: fc.oneof(fc.integer({ min: 0, max: 2_000_000_000 }), fc.maxSafeInteger()),
  members: fc
    .uniqueArray(fc.nat(1_000_000), { minLength: 1, maxLength: 20 })
    .map((members) => members.sort((a, b) => a - b)),
  weight: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true })),
  formation: fc.option(awkward),
  end_ts: fc.option(fc.integer({ min: 0, max: 2_000_000_000 })),
});
const args = fc.array(
  fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), awkward),
  { maxLength: 4 },
);
const world = fc
  .record({
    edges: fc.uniqueArray(edge, { selector: ({ edge_id }) => edge_id, maxLength: 15 }),
    rules: fc.array(fc.record({ name: awkward, id: fc.constantFrom('rule:close', 'rule:no', 'rule:r1') }), {
      minLength: 1,
      maxLength: 4,
    }),
    facts: fc.array(
      fc.record({
        predicate: fc.constantFrom('close', 'not_in', 'no', 'p2', 's'),
        args,
        confidence: fc.double({ min: 0, max: 1, noNaN: true }),
        rule: fc.nat(3),
        of: fc.nat(20),
      }),
      { maxLength: 25 },
    ),
  })
  .map(({ edges, rules, facts }) => worldOf(edges, rules, facts));

interface World {
  edges: RetrievedEdge[];
  facts: StepFact[];
  rules: RuleFact[];
  support: Support;
}

function worldOf(
  given: (Pick<RetrievedEdge, 'edge_id' | 'event_ts' | 'end_ts' | 'weight' | 'formation'> & { members: number[] })[],
  ruleNames: { name: string; id: string }[],
  derived: { predicate: string; args: (number | string | boolean)[]; confidence: number; rule: number; of: number }[],
): World {
  const edges = given.map((edge) => ({
    ...edge,
    hedge_tag: `HEDGE-${edge.edge_id}`,
    mean_dist_m: null,
    score: 1,
    why: [],
    properties: { note: edge.formation },
  }));
  const rules = ruleNames.map(({ name, id }, index) => ({
    rule_tag: `RULE-${index + 1}`,
    id,
    name,
    text: `${name} if x`,
  }));
  const facts = (edges.length === 0 ? [] : derived).map(({ predicate, args, confidence, rule, of }, index) => {
    const plain = args.map((arg) => (arg === 0 ? 0 : arg));
    const { rule_tag, id: rule_id } = rules[rule % rules.length]!;
    const hedge_tags = edges.slice(0, 1 + of).map((edge) => edge.hedge_tag);
    return {
      step_tag: `STEP-${index + 1}`,
      fact: factText(predicate, plain),
      predicate,
      args: plain,
      confidence,
      rule_id,
      rule_tag,
      hedge_tags,
    };
  });
  const support = {
    edges: new Map(edges.map((edge) => [edge.edge_id, edge])),
    steps: new Map(facts.map((fact, index) => [index + 1, fact])),
    rules: new Map(rules.map((rule, index) => [index + 1, rule])),
  };
  return { edges, facts, rules, support };
}

describe('the written answer', () => {
  it.each([[[]], [['note']]])('passes the firewall completely for any names and texts, quoting %j', (searched) => {
    fc.assert(
      fc.property(world, ({ edges, facts, rules, support }) => {
        const answer = writtenAnswer(facts, rules, edges, () => searched);
        if (edges.length === 0) {
          expect(answer).toBe(ABSTAINED_ANSWER);
          return;
        }
        const result = firewall(answer, support);
        expect(result.stripped).toEqual([]);
        expect(result.outcome).toBe('supported');
        expect(result.answer).toBe(answer);
        expect(answer).not.toMatch(/[\n\r]/);
      }),
      { seed: SEED, numRuns: Number(process.env.HEDGEROW_WRITTEN ?? 400) },
    );
  });

  it('states facts with their rules and tags, or the retrieved edges if there are no facts', () => {
    const { edges, facts, rules } = worldOf(
      [
        { edge_id: 1, event_ts: 1_700_000_000, members: [3, 9], weight: 0.5, formation: null },
        { edge_id: 2, event_ts: 1_700_000_600, members: [3, 9, 14], weight: 0.5, formation: null },
      ],
      [{ name: 'Close "pairs"', id: 'rule:close' }],
      [
        { predicate: 'close', args: [3, 9], confidence: 0.9, rule: 0, of: 1 },
        { predicate: 'named', args: ['say [HEDGE-2]', true], confidence: 1, rule: 0, of: 0 },
      ],
    );
    expect(writtenAnswer(facts, rules, edges)).toBe(
      'close(3, 9) holds with confidence 0.9 by the rule "Close \\"pairs\\"", from 2 hyperedges [RULE-1] [STEP-1] [HEDGE-1] [HEDGE-2]. ' +
        'named("say (HEDGE 2)", true) holds with confidence 1 by the rule "Close \\"pairs\\"", from 1 hyperedge [RULE-1] [STEP-2] [HEDGE-1].',
    );
    expect(writtenAnswer([], [], edges)).toBe(
      'Found 2 hyperedges, the earliest at 2023-11-14T22:13:20Z and the latest at 2023-11-14T22:23:20Z [HEDGE-1] [HEDGE-2]. ' +
        'Hyperedge 1 links nodes 3 and 9 at 2023-11-14T22:13:20Z [HEDGE-1]. Hyperedge 2 links nodes 3, 9 and 14 at 2023-11-14T22:23:20Z [HEDGE-2].',
    );
    expect(writtenAnswer([], [], [])).toBe(ABSTAINED_ANSWER);
  });

  it('states only twenty facts, with at most eight edges each, and mentions that there are more', () => {
    const edges = Array.from({ length: 12 }, (_, index) => ({
      edge_id: index + 1,
      event_ts: 1_700_000_000 + index,
      members: [index, 50],
      weight: null,
      formation: null,
    }));
    const facts = Array.from({ length: 37 }, (_, index) => ({
      predicate: 'far',
      args: [index],
      confidence: 0.25,
      rule: 0,
      of: 12,
    }));
    const made = worldOf(edges, [{ name: '', id: 'rule:far' }], facts);
    const answer = writtenAnswer(made.facts, made.rules, made.edges);
    expect(answer.match(/holds/g)).toHaveLength(20);
    expect(answer).toContain('by the rule "rule:far", from 12 hyperedges');
    expect(answer.endsWith('More facts were derived, up to step 37 [STEP-37].')).toBe(true);
    expect(answer.match(/HEDGE/g)).toHaveLength(160);
    expect(firewall(answer, made.support).outcome).toBe('supported');
    const without = writtenAnswer([], made.rules, made.edges);
    expect(without).toContain(
      'The earliest hyperedge found is at 2023-11-14T22:13:20Z [HEDGE-1], the latest at 2023-11-14T22:13:31Z [HEDGE-12].',
    );
    expect(firewall(without, made.support).outcome).toBe('supported');
  });
});
