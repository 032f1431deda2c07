// Formats a proof as lines: each fact above the facts it follows from, down to stored edges.

import type { ReasonAnswer } from '../../client/index.ts';
import { timeText } from './shown.ts';

type Proof = ReasonAnswer['proofs'][number];
type ProofNode = Proof['nodes'][number];

/**
 * Maximum number of lines per proof. If it is not enough, one more line counts the facts not shown.
 */
const MOST_LINES = 60;

/**
 * Returns the lines. The goal is first, and the premises of a fact are indented below it. A fact
 * that several others follow from is proved only once.
 */
export function proofLines({ nodes, status, goal }: Proof): string[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const shown = new Set<string>();
  const lines: string[] = [];
  const waiting = nodes.length === 0 ? [] : [{ id: nodes.at(-1)!.id, depth: 0 }];
  if (waiting.length === 0) return [`${goal}: ${status}`];
  let next = waiting.pop();
  for (; next !== undefined && lines.length < MOST_LINES; next = waiting.pop()) {
    const node = byId.get(next.id)!;
    const isKnown = node.kind === 'conclusion' && shown.has(node.id);
    lines.push(`${'  '.repeat(next.depth)}${lineOf(node)}${isKnown ? ' (proved above)' : ''}`);
    if (node.kind !== 'conclusion' || isKnown) continue;
    shown.add(node.id);
    const depth = next.depth + 1;
    for (const id of [...node.premises].reverse()) waiting.push({ id, depth });
  }
  const left = nodes.filter(({ kind, id }) => kind === 'conclusion' && !shown.has(id)).length;
  if (next !== undefined) lines.push(`… cut after ${MOST_LINES} lines; ${left} derived facts below are not shown`);
  return lines;
}

function lineOf(node: ProofNode): string {
  switch (node.kind) {
    case 'evidence':
      return node.edge_id === undefined
        ? `${node.fact}: given`
        : `${node.fact}: stored in edge ${node.edge_id} of ${node.table}, event_ts ${node.event_ts} (${timeText(node.event_ts) ?? 'no time of the calendar'})`;
    case 'conclusion':
      return `${node.fact}: by ${node.rule_id}, confidence ${node.confidence}`;
    case 'absence':
      return `not ${node.predicate}(${node.args.map((arg) => JSON.stringify(arg)).join(', ')}): not among the edges looked at`;
    case 'guard':
      return `${node.compare.map((part, at) => (at === 1 ? part : JSON.stringify(part))).join(' ')}`;
  }
}
