// Times rules against clingo, and the stages of questions to a table with the whole data set:
// retrieval, reasoning, answer, firewall.

import { openDatabase, type RagRequest, Reasoning, type StepRunner } from 'hedgerow';
import { datalogRows } from './datalog.ts';
import { median } from './measure.ts';
import type { PartOptions } from './part.ts';
import { type BenchRow, benchRow } from './row.ts';

const MOST_RETRIEVAL_MS = 5;
const ROUNDS = 15;

/**
 * Two nodes have met if one edge contains both (the lower id is the first argument). Two nodes are
 * connected through a third, whose id is between theirs, if both have met it but not each other.
 */
const RULES = [
  {
    id: 'rule:met',
    if: [
      { pred: 'member', args: ['?E', '?A'] },
      { pred: 'member', args: ['?E', '?B'] },
      { compare: ['?A', '<', '?B'] },
    ],
    then: { pred: 'met', args: ['?A', '?B'], confidence: 0.9 },
  },
  {
    id: 'rule:through',
    if: [
      { pred: 'met', args: ['?A', '?B'] },
      { pred: 'met', args: ['?B', '?C'] },
      { not: { pred: 'met', args: ['?A', '?C'] } },
    ],
    then: { pred: 'through', args: ['?A', '?C'], confidence: 0.8 },
  },
];

/** Runs all steps without a pause, because no other work is waiting. */
const ALONE: StepRunner = {
  signal: new AbortController().signal,
  async run(steps) {
    for (let step = steps.next(); ; step = steps.next()) if (step.done === true) return step.value;
  },
};

export async function runReasoning(options: PartOptions): Promise<BenchRow[]> {
  const rows = await datalogRows(options);
  const { dataset, tiny, workspace } = options;
  const database = await openDatabase({ dir: await workspace.compacted(dataset.edges) });
  try {
    const last = dataset.edges[dataset.edges.length - 1]!;
    const middle = dataset.edges[dataset.edges.length >> 1]!;
    const reasoning = new Reasoning({
      database,
      model: { baseUrl: 'https://model.invalid/v1', model: 'none', apiKey: undefined, allowedHosts: [] },
      now: () => last.event_ts * 1000,
      monotonicMs: () => performance.now(),
      newId: () => 'bench',
    });
    const day = 86_400;
    const cases: [name: string, query: string, target: boolean][] = [
      ['two nodes', `What did nodes ${middle.members[0]} and ${last.members[0]} do?`, true],
      ['a day', `What happened between ${middle.event_ts} and ${middle.event_ts + day}?`, true],
      ['a node in a year', `node ${middle.members[0]} from ${middle.event_ts - 365 * day} to ${middle.event_ts}`, true],
      ['nothing named', 'What happened lately?', false],
    ];
    for (const [name, query, hasTarget] of cases) {
      rows.push(...(await stageRows(reasoning, name, query, tiny ? 1 : ROUNDS, hasTarget)));
    }
  } finally {
    await database.close();
  }
  return rows;
}

async function stageRows(
  reasoning: Reasoning,
  name: string,
  query: string,
  rounds: number,
  hasTarget: boolean,
): Promise<BenchRow[]> {
  const request: RagRequest = {
    query,
    table: undefined,
    topK: 40,
    requireProof: false,
    rules: RULES,
    mode: 'hybrid',
    mock: true,
    model: undefined,
    baseUrl: undefined,
    apiKey: undefined,
    tokenBudget: 3000,
    timeStart: undefined,
    timeEnd: undefined,
  };
  const times: { retrieval: number; reasoning: number; generation: number; rest: number }[] = [];
  for (let round = -1; round < rounds; round++) {
    const { result } = await reasoning.ask(request, ALONE);
    const { retrieval_ms, reasoning_ms, generation_ms, total_ms } = result;
    const rest = total_ms - retrieval_ms - reasoning_ms - generation_ms;
    if (result.all_edges.length === 0) throw new Error(`${name}: nothing was retrieved`);
    // The first round is a warm-up.
    if (round >= 0) times.push({ retrieval: retrieval_ms, reasoning: reasoning_ms, generation: generation_ms, rest });
  }
  const of = (pick: (time: (typeof times)[number]) => number) => median(times.map(pick));
  return [
    benchRow({
      name: `${name}: retrieval`,
      unit: 'ms',
      ours: of(({ retrieval }) => retrieval),
      ...(hasTarget ? { target: { oursAtMost: MOST_RETRIEVAL_MS } } : {}),
    }),
    benchRow({ name: `${name}: rules and proofs`, unit: 'ms', ours: of(({ reasoning: ms }) => ms) }),
    benchRow({ name: `${name}: context and mock model`, unit: 'ms', ours: of(({ generation }) => generation) }),
    benchRow({ name: `${name}: firewall`, unit: 'ms', ours: of(({ rest }) => rest) }),
  ];
}
