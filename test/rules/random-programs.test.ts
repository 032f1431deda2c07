// Evaluates random programs. They must have the same facts as a naive evaluator and proofs that the
// checker accepts, and the same results when facts and rules are shuffled. HEDGEROW_PROGRAMS=2000
// runs more of them; HEDGEROW_FIRST_SEED starts at another seed.

import { describe, expect, test } from 'vitest';
import { proofChecker } from '../../src/rules/check-proof.ts';
import type { KnownFacts } from '../../src/rules/check-statements.ts';
import type { Model } from '../../src/rules/evaluate.ts';
import { knownOfEdges } from '../../src/rules/known-of-edges.ts';
import { hedgesOf } from '../../src/rules/proof-hedges.ts';
import { readRuleSet } from '../../src/rules/rule-set.ts';
import { Random } from '../support/random.ts';
import { drained, modelOf, proofsOf, tagsOf } from './evaluated.ts';
import { answerOrder, keyOf, naiveFacts, strataOf, type WireFact } from './naive-evaluator.ts';
import { largeProgram, type Program, randomProgram, shuffledProgram } from './random-program.ts';
import { forged } from './tamper.ts';

const PROGRAMS = Number(process.env.HEDGEROW_PROGRAMS ?? 300);
const FIRST_SEED = Number(process.env.HEDGEROW_FIRST_SEED ?? 1);
const SEEDS = Array.from({ length: PROGRAMS }, (_, at) => FIRST_SEED + at);
/** Timeout for all programs. */
const PATIENCE_MS = 60_000 + PROGRAMS * 100;

/** Returns the program for a seed. One program in thirty is a large one. */
function programOf(seed: number): Program {
  return seed % 30 === 0 ? largeProgram(seed) : randomProgram(seed);
}

function derivedFacts(model: Model) {
  const facts = [...drained(model.derived())];
  return facts.map((fact) => ({ ...model.factOf(fact), confidence: model.confidenceOf(fact) }));
}

function timesOf({ edges }: Program): Map<number, number> {
  return new Map(edges.map(({ edge_id, event_ts }) => [edge_id, event_ts]));
}

describe(`${PROGRAMS} random programs from seed ${FIRST_SEED} on`, () => {
  test(
    'derive what a naive evaluator derives, with the same confidence, in the order of answers',
    () => {
      let derived = 0;
      for (const seed of SEEDS) {
        const { rules, facts } = programOf(seed);
        const expected = [...naiveFacts(rules, facts).values()].filter(({ given }) => !given).sort(answerOrder);
        const found = derivedFacts(modelOf(rules, facts));
        expect(found.map(keyOf), `seed ${seed}`).toEqual(expected.map(keyOf));
        found.forEach(({ confidence }, at) => {
          const off = Math.abs(confidence - expected[at]!.confidence);
          if (off > 1e-12)
            expect.fail(`seed ${seed}: ${keyOf(found[at]!)} has ${confidence}, ${expected[at]!.confidence} expected`);
        });
        derived += found.length;
      }
      expect(derived).toBeGreaterThan(PROGRAMS * 5);
    },
    PATIENCE_MS,
  );

  test(
    'have the smallest possible strata',
    () => {
      for (const seed of SEEDS) {
        const { rules } = programOf(seed);
        const set = readRuleSet(rules, ['body', 'rules']);
        const expected = strataOf(rules);
        for (const { head, stratum } of set.rules)
          expect(stratum, `seed ${seed}: ${head.pred}`).toBe(expected.get(head.pred));
      }
    },
    PATIENCE_MS,
  );

  test(
    'have proofs that the checker accepts, and forgeries of these are refused',
    () => {
      const refused = new Map<string, number>();
      const kinds = { evidence: 0, conclusion: 0, absence: 0, guard: 0 };
      for (const seed of SEEDS) {
        const program = programOf(seed);
        const holding = naiveFacts(program.rules, program.facts);
        const holds = (fact: WireFact) => holding.has(keyOf(fact));
        const known: KnownFacts = (pred, args) => {
          const fact = holding.get(keyOf({ pred, args: [...args] }));
          return fact === undefined ? 'false' : fact.given ? 'given' : 'derived';
        };
        const check = proofChecker({ rules: program.rules, known });
        const model = modelOf(program.rules, program.facts);
        const proofs = proofsOf(model, tagsOf(model, timesOf(program)));
        for (const proof of proofs) {
          expect(check(proof), `seed ${seed}: ${proof.goal}`).toEqual([]);
          for (const node of proof.nodes) kinds[node.kind]++;
        }
        if (proofs.length === 0) continue;
        const random = new Random(seed);
        const truth = { holds, values: [...program.facts.flatMap(({ args }) => args), 'none', 77] };
        for (let attempt = 0; attempt < 5; attempt++) {
          const forgery = forged(proofs[random.below(proofs.length)]!, truth, random);
          if (check(forgery.proof).length === 0)
            expect.fail(`seed ${seed}: ${forgery.name} passes: ${JSON.stringify(forgery.proof)}`);
          refused.set(forgery.name, (refused.get(forgery.name) ?? 0) + 1);
        }
      }
      for (const [kind, count] of Object.entries(kinds)) expect(count, kind).toBeGreaterThan(PROGRAMS / 2);
      expect(refused.size).toBeGreaterThan(20);
    },
    PATIENCE_MS,
  );

  test(
    'have proofs that agree with the edges, and `hedgesOf` returns the edges of each proof',
    () => {
      let proofCount = 0;
      for (const seed of SEEDS) {
        const program = programOf(seed);
        if (program.edges.length === 0) continue;
        const check = proofChecker({ rules: program.rules, known: knownOfEdges(program.edges) });
        const model = modelOf(program.rules, program.facts);
        const facts = [...drained(model.derived())];
        proofsOf(model, tagsOf(model, timesOf(program))).forEach((proof, at) => {
          expect(check(proof), `seed ${seed}: ${proof.goal}`).toEqual([]);
          const ids = proof.nodes.flatMap((node) => (node.kind === 'evidence' ? [node.edge_id!] : []));
          const expected = [...new Set(ids)].sort((a, b) => a - b);
          expect(drained(hedgesOf(model, facts[at]!))).toEqual(expected);
          proofCount++;
        });
      }
      expect(proofCount).toBeGreaterThan(PROGRAMS / 2);
    },
    PATIENCE_MS,
  );

  test(
    'have the same facts and proofs, byte for byte, however their facts and rules are ordered',
    () => {
      const bytesOf = (program: Program) => {
        const model = modelOf(program.rules, program.facts);
        return JSON.stringify([derivedFacts(model), proofsOf(model, tagsOf(model, timesOf(program)))]);
      };
      for (const seed of SEEDS) {
        const program = programOf(seed);
        const bytes = bytesOf(program);
        if (bytesOf(program) !== bytes || bytesOf(shuffledProgram(program, seed)) !== bytes)
          expect.fail(`seed ${seed}: other bytes`);
      }
      expect(bytesOf(randomProgram(FIRST_SEED))).not.toBe(bytesOf(randomProgram(FIRST_SEED + 1)));
    },
    PATIENCE_MS,
  );
});
