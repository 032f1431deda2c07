import { describe, expect, it } from 'vitest';
import { createMockModel } from '../../src/llm/index.ts';
import type { StepFact } from '../../src/rag/derived-fact.ts';
import { firewall } from '../../src/rag/firewall/firewall.ts';
import type { RetrievedEdge } from '../../src/rag/retrieval/retrieved-edge.ts';
import { factText } from '../../src/rules/index.ts';
import { fc } from '../support/property.ts';

const number = fc.oneof(
  fc.integer({ min: -100, max: 100 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(0.1, 1e21, 1e-7, 2.5, 1e308, 5e-324),
);
const time = fc.oneof(fc.integer({ min: -1e10, max: 4e9 }), fc.constantFrom(0, 2 ** 53 - 1, -(2 ** 53) + 1));
const node = fc.oneof(fc.nat(50), fc.integer({ min: -(2 ** 53) + 1, max: 2 ** 53 - 1 }));
const note = fc.oneof(
  fc.string(),
  fc.constantFrom('escort', 'a. b', 'No.', 'x? y', 'at 5', '[HEDGE-1]', 'RULE-1', 'it follows'),
);

const edgeOf = fc.record({
  event_ts: time,
  members: fc.uniqueArray(node, { minLength: 1, maxLength: 12 }).map((nodes) => nodes.sort((a, b) => a - b)),
  weight: fc.option(number),
  formation: fc.option(note),
});

const stepOf = fc.record({
  predicate: fc.constantFrom('close', 'met_at', 'speed', 'x1'),
  args: fc.array(fc.oneof(number, node, fc.boolean(), note), { minLength: 1, maxLength: 3 }),
});

interface Known {
  edges: RetrievedEdge[];
  steps: StepFact[];
}

const known: fc.Arbitrary<Known> = fc
  .record({ edges: fc.array(edgeOf, { minLength: 1, maxLength: 7 }), steps: fc.array(stepOf, { maxLength: 7 }) })
  .map(({ edges, steps }) => ({
    edges: edges.map((edge, index) => ({
      ...edge,
      edge_id: index * 3 + 1,
      hedge_tag: `HEDGE-${index * 3 + 1}`,
      weight: edge.weight === 0 ? 0 : edge.weight,
      mean_dist_m: null,
      score: 0.5,
      why: [],
      properties: {},
    })),
    steps: steps.map(({ predicate, args }, index) => {
      const plain = args.map((arg) => (arg === 0 ? 0 : arg));
      return {
        step_tag: `STEP-${index + 1}`,
        fact: factText(predicate, plain),
        predicate,
        args: plain,
        confidence: 0.9,
        rule_id: 'rule:r',
        rule_tag: 'RULE-1',
        hedge_tags: ['HEDGE-1'],
      };
    }),
  }));

/** Writes edges and steps as lines in the format of a prompt. */
function linesOf({ edges, steps }: Known): string {
  const edgeLines = edges.map(
    ({ hedge_tag, event_ts, members, weight, formation }) =>
      `[${hedge_tag}] event_ts=${event_ts} members=[${members.join(', ')}]${weight === null ? '' : ` weight=${weight}`}` +
      `${formation === null ? '' : ` formation=${JSON.stringify(formation)}`}`,
  );
  const stepLines = steps.map(
    ({ step_tag, fact, confidence, rule_tag }) =>
      `[${step_tag}] ${fact} confidence=${confidence} by [${rule_tag}] from [HEDGE-1]`,
  );
  return [...edgeLines, ...stepLines, '[RULE-1] r: close(?A, ?B) if member(?E, ?A), member(?E, ?B)'].join('\n');
}

describe("the mock model's answer", () => {
  it('loses no sentence in the firewall', async () => {
    await fc.assert(
      fc.asyncProperty(known, async (facts) => {
        const { text } = await createMockModel().complete({ system: '', user: linesOf(facts) });
        const rule = {
          rule_tag: 'RULE-1',
          id: 'rule:r',
          name: 'r',
          text: 'close(?A, ?B) if member(?E, ?A), member(?E, ?B)',
        };
        const result = firewall(text, {
          edges: new Map(facts.edges.map((edge) => [edge.edge_id, edge])),
          steps: new Map(facts.steps.map((step, index) => [index + 1, step])),
          rules: new Map([[1, rule]]),
        });
        expect(result.stripped).toEqual([]);
        expect(result).toMatchObject({ outcome: 'supported', coverage: 1, answer: text });
        expect(result.supported_count).toBe(text.split('\n').length);
        expect(result.citedEdges).toEqual(facts.edges.slice(0, 5).map(({ edge_id }) => edge_id));
      }),
      { numRuns: 300, seed: 6 },
    );
  });
});
