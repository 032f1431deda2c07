// Shows the proof of a derived fact as a tree: inner nodes are conclusions with their rules. Leaves
// are stored edges, which the user can open, absent facts, and comparisons.

import type { ReasonAnswer } from '../../client/index.ts';
import { EdgeTag } from '../edge-tag.tsx';
import { numberText, timeText } from '../format.ts';

export type Proof = ReasonAnswer['proofs'][number];
type ProofNode = Proof['nodes'][number];

export function ProofTree({ proof, table }: { proof: Proof; table: string }) {
  const byId = new Map(proof.nodes.map((node) => [node.id, node]));
  const root = proof.nodes.find((node) => node.kind === 'conclusion' && node.fact === proof.goal) ?? proof.nodes.at(-1);
  return (
    <section aria-label={`Proof of ${proof.goal}`} class="proof">
      <p>
        <strong>{proof.goal}</strong> is {proof.status}, with confidence {numberText(proof.confidence)}.
      </p>
      {root === undefined ? null : (
        <ul class="tree">
          <Step node={root} byId={byId} table={table} above={new Set()} />
        </ul>
      )}
    </section>
  );
}

interface StepProps {
  readonly node: ProofNode;
  readonly byId: ReadonlyMap<string, ProofNode>;
  readonly table: string;
  /** Ids of the steps above this one, so that a cyclic proof does not recurse forever. */
  readonly above: ReadonlySet<string>;
}

function Step({ node, byId, table, above }: StepProps) {
  if (above.has(node.id)) return <li>{node.id}</li>;
  switch (node.kind) {
    case 'evidence':
      // A fact about a node names no edge.
      if (node.edge_id === undefined || node.event_ts === undefined)
        return (
          <li>
            <span class="tag">node</span> {node.fact}
          </li>
        );
      return (
        <li>
          <EdgeTag table={node.table ?? table} id={node.edge_id} /> {node.fact}{' '}
          <span class="quiet">stored edge of {timeText(node.event_ts)} UTC</span>
        </li>
      );
    case 'absence':
      return (
        <li>
          <span class="tag">absent</span> no {node.predicate}({node.args.map(String).join(', ')})
        </li>
      );
    case 'guard':
      return (
        <li>
          <span class="tag">holds</span> {node.compare.map(String).join(' ')}
        </li>
      );
    case 'conclusion': {
      const below = new Set([...above, node.id]);
      const premises = node.premises.flatMap((id) => byId.get(id) ?? []);
      return (
        <li>
          <span class="operator">{node.fact}</span> <span class="tag tag-rule">{node.rule_tag}</span>{' '}
          <span class="quiet">
            by {node.rule_id}, confidence {numberText(node.confidence)}
          </span>
          <ul>
            {premises.map((premise, at) => (
              <Step key={`${premise.id} ${at}`} node={premise} byId={byId} table={table} above={below} />
            ))}
          </ul>
        </li>
      );
    }
  }
}
