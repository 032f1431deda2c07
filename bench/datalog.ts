// Times rules on large relations: the transitive closure of a random graph, and the same-generation
// relation of a tree. The peer for the latter is clingo, if its package is installed.

import { existsSync, readFileSync } from 'node:fs';
import { BaseFacts, evaluate, readRuleSet } from 'hedgerow';
import { sharedFile } from './dataset.ts';
import { median, sink, timed } from './measure.ts';
import type { PartOptions } from './part.ts';
import { type BenchRow, benchRow } from './row.ts';

interface Program {
  name: string;
  file: string;
  rules: readonly object[];
  /** The same rules in clingo's syntax. */
  clingo: string;
  /** Number of facts derived from the whole file. */
  facts: number;
}

const X = '?X';
const Y = '?Y';
const Z = '?Z';

const CLOSURE: Program = {
  name: 'transitive closure',
  file: 'data/tc-random-n2000-m10000.tsv',
  rules: [
    rule('base', atom('path', X, Y), [atom('edge', X, Y)]),
    rule('step', atom('path', X, Z), [atom('path', X, Y), atom('edge', Y, Z)]),
  ],
  clingo: 'path(X,Y) :- edge(X,Y). path(X,Z) :- path(X,Y), edge(Y,Z).',
  facts: 3_954_133,
};

const GENERATION: Program = {
  name: 'same generation',
  file: 'data/sg-tree-3ary-depth6.tsv',
  rules: [
    rule('siblings', atom('same', X, Y), [atom('edge', X, Z), atom('edge', Y, Z)]),
    rule('below', atom('same', X, Y), [atom('edge', X, '?A'), atom('same', '?A', '?B'), atom('edge', Y, '?B')]),
  ],
  clingo: 'same(X,Y) :- edge(X,Z), edge(Y,Z). same(X,Y) :- edge(X,A), same(A,B), edge(Y,B).',
  facts: 597_870,
};

/** Minimum rate, in derived facts per second. */
const LEAST_RATE = 1_000_000;
const MOST_GENERATION_MS = 600;

export async function datalogRows({ tiny, note }: PartOptions): Promise<BenchRow[]> {
  const [closure, generation] = [await run(CLOSURE, tiny, note), await run(GENERATION, tiny, note)];
  const rows = [
    benchRow({
      name: `${CLOSURE.name}, ${closure.facts} facts with proofs`,
      unit: 'ms',
      ours: closure.ms,
      target: { oursAtMost: Math.round((closure.facts / LEAST_RATE) * 1000) },
    }),
    benchRow({
      name: `${GENERATION.name}, ${generation.facts} facts with proofs`,
      unit: 'ms',
      ours: generation.ms,
      target: { oursAtMost: MOST_GENERATION_MS },
    }),
  ];
  const peer = await clingoMs(GENERATION, tiny);
  if (peer === undefined) note('reasoning: clingo-wasm is not installed (npm install clingo-wasm)');
  else {
    if (peer.facts !== generation.facts) throw new Error(`clingo derives ${peer.facts} facts, not ${generation.facts}`);
    rows.push(
      benchRow({
        name: `${GENERATION.name} beside clingo (wasm, text in and out)`,
        unit: 'ms',
        ours: generation.ms,
        peer: peer.ms,
      }),
    );
  }
  return rows;
}

function rule(id: string, then: object, body: readonly object[]): object {
  return { id: `rule:${id}`, if: body, then };
}

function atom(pred: string, ...args: string[]): object {
  return { pred, args };
}

async function run(program: Program, tiny: boolean, note: PartOptions['note']): Promise<{ ms: number; facts: number }> {
  const pairs = pairsOf(program, tiny);
  if (pairs.isMade && !tiny) note(`reasoning: ${program.file} is absent, a small generated tree replaces it`);
  const rules = readRuleSet(program.rules, ['rules']);
  const base = new BaseFacts();
  for (const [a, b] of pairs.list) base.add('edge', a, b);
  const times: number[] = [];
  let facts = 0;
  for (let round = 0; round < (tiny ? 1 : 3); round++) {
    times.push(
      await timed(() => {
        facts = derive(rules, base);
      }),
    );
  }
  if (!pairs.isMade && facts !== program.facts)
    throw new Error(`${program.name}: ${facts} facts instead of ${program.facts}`);
  sink(facts);
  return { ms: median(times), facts };
}

function derive(rules: ReturnType<typeof readRuleSet>, base: BaseFacts): number {
  const steps = evaluate(rules, base);
  for (let step = steps.next(); ; step = steps.next()) if (step.done === true) return step.value.count;
}

interface Pairs {
  list: readonly (readonly [number, number])[];
  /** Whether the pairs were generated rather than read from the file. */
  isMade: boolean;
}

function pairsOf({ file }: Program, tiny: boolean): Pairs {
  const path = sharedFile(file);
  if (tiny || !existsSync(path)) {
    // A tree in which every inner node has three children.
    return { list: Array.from({ length: 120 }, (_, i) => [i + 1, Math.floor(i / 3)] as const), isMade: true };
  }
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean);
  const list = lines.map((line) => line.split('\t').map(Number) as unknown as readonly [number, number]);
  return { list, isMade: false };
}

async function clingoMs(program: Program, tiny: boolean): Promise<{ ms: number; facts: number } | undefined> {
  const clingo = await import('clingo-wasm').catch(() => undefined);
  if (clingo === undefined) return undefined;
  const facts = pairsOf(program, tiny).list.map(([a, b]) => `edge(${a},${b}).`);
  const text = `${facts.join('\n')}\n${program.clingo}\n#show same/2.`;
  let found = 0;
  const ms = await timed(async () => {
    const result = await clingo.run(text, 1);
    if (result.Result === 'ERROR') throw new Error(`clingo: ${result.Error}`);
    found = result.Call[0]!.Witnesses[0]!.Value.length;
  });
  return { ms, facts: found };
}
