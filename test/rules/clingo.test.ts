// Uses clingo as a second reference: it must find the same facts for random programs without
// confidences. HEDGEROW_CLINGO_PROGRAMS=N tries N programs.

import { expect, test } from 'vitest';
import { ClingoText } from './clingo-text.ts';
import { drained, modelOf } from './evaluated.ts';
import { answerOrder, keyOf } from './naive-evaluator.ts';
import { type Program, randomProgram } from './random-program.ts';

const PROGRAMS = Number(process.env.HEDGEROW_CLINGO_PROGRAMS ?? 100);

type Run = (program: string, models: number) => Promise<unknown>;

async function clingo(): Promise<Run | undefined> {
  try {
    return (await import('clingo-wasm')).run;
  } catch {
    console.log('skipped: the package clingo-wasm is not installed (npm install brings it)');
    return undefined;
  }
}

/** Returns the atoms of the unique stable model of a stratified program. */
async function atomsBy(run: Run, program: string): Promise<string[]> {
  const answer = (await run(program, 0)) as { Result: string; Call?: { Witnesses: { Value: string[] }[] }[] };
  const witnesses = answer.Call?.flatMap((call) => call.Witnesses) ?? [];
  if (witnesses.length !== 1) throw new Error(`${JSON.stringify(answer)}\n${program}`);
  return witnesses[0]!.Value;
}

/** Returns the facts that clingo must show: those of derived predicates, including given ones. */
function ownFacts({ facts, rules }: Program): string[] {
  const model = modelOf(rules, facts);
  const derived = [...drained(model.derived())].map((fact) => model.factOf(fact));
  const heads = new Set(rules.map(({ then }) => then.pred));
  const given = facts.filter(({ pred }) => heads.has(pred));
  return [...new Set([...derived, ...given].sort(answerOrder).map(keyOf))];
}

test(`clingo derives the same facts in ${PROGRAMS} random programs`, { timeout: 60_000 + PROGRAMS * 200 }, async ({
  skip,
}) => {
  const run = await clingo();
  if (run === undefined) return skip();
  let count = 0;
  for (let seed = 1; seed <= PROGRAMS; seed++) {
    const program = randomProgram(seed);
    const text = new ClingoText(program);
    const found = (await atomsBy(run, text.program())).map((atom) => text.factOf(atom)).sort(answerOrder);
    expect(ownFacts(program), `seed ${seed}`).toEqual(found.map(keyOf));
    count += found.length;
  }
  expect(count).toBeGreaterThan(PROGRAMS * 5);
});
