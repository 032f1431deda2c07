// Extracts what a document claims: its proofs and, if it is a whole answer, also its derived facts
// and edges.

import { BASE_PREDICATES } from '../../rules/base-predicates.ts';
import type { KnownFacts } from '../../rules/check-statements.ts';
import { factText, isConstant } from '../../rules/fact-text.ts';
import { type EdgeSaying, knownOfEdges } from '../../rules/known-of-edges.ts';
import type { Constant } from '../../rules/rule.ts';

/** An item of `derived_facts`, with the fields that are checked. */
export interface Step {
  readonly step_tag: unknown;
  readonly fact: string;
  readonly confidence: unknown;
  readonly rule_id: unknown;
  readonly rule_tag: unknown;
  readonly hedge_tags: unknown;
}

export interface Claims {
  readonly proofs: readonly unknown[];
  /** Derived facts by their text; undefined when the document does not list them. */
  readonly steps: ReadonlyMap<string, Step> | undefined;
  readonly known: KnownFacts | undefined;
}

/**
 * Returns the claims of one proof, of an array of proofs, or of an answer from /v1/reason or
 * /v1/rag/query. Throws an Error that describes what is wrong with the document.
 */
export function claimsOf(document: unknown): Claims {
  if (Array.isArray(document)) return { proofs: document, steps: undefined, known: undefined };
  const fields = fieldsOf(document);
  if (fields === undefined || !('proofs' in fields || 'proof_id' in fields || 'nodes' in fields))
    throw new Error('It contains no proof: it must be a proof, an array of proofs, or an answer with `proofs`.');
  if (!('proofs' in fields)) return { proofs: [fields], steps: undefined, known: undefined };
  const { proofs, derived_facts: derived, all_edges: edges } = fields;
  const steps = derived === undefined ? undefined : stepsOf(listOf(derived, 'derived_facts'));
  const ofEdges = edges === undefined ? undefined : knownOfEdges(listOf(edges, 'all_edges').map(edgeOf));
  return { proofs: listOf(proofs, 'proofs'), steps, known: knownOf(steps, ofEdges) };
}

/**
 * Returns a lookup of facts. An answer lists everything that was derived and every edge that the
 * rules were run over, so a fact that is missing from such a list is false. Without the list, the
 * lookup returns undefined.
 */
function knownOf(steps: ReadonlyMap<string, Step> | undefined, ofEdges: KnownFacts | undefined): KnownFacts {
  return (predicate, args) => {
    if (BASE_PREDICATES.has(predicate)) return ofEdges?.(predicate, args);
    return steps === undefined ? undefined : steps.has(factText(predicate, args)) ? 'derived' : 'false';
  };
}

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

function listOf(value: unknown, name: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new Error(`${name} must be an array, as the service sends it.`);
}

function stepsOf(items: readonly unknown[]): ReadonlyMap<string, Step> {
  const steps = new Map<string, Step>();
  for (const [at, item] of items.entries()) {
    const fields = fieldsOf(item);
    const { predicate, args, fact } = fields ?? {};
    const isFact = typeof predicate === 'string' && Array.isArray(args) && args.every(isConstant);
    if (!isFact || fact !== factText(predicate, args as Constant[]) || steps.has(fact))
      throw new Error(`derived_facts[${at}] is not a derived fact, or occurs twice; use the answer as it was sent.`);
    steps.set(fact, fields as unknown as Step);
  }
  return steps;
}

function edgeOf(value: unknown, at: number): EdgeSaying {
  const fields = fieldsOf(value);
  const isEdge =
    Number.isSafeInteger(fields?.edge_id) &&
    Number.isSafeInteger(fields?.event_ts) &&
    Array.isArray(fields?.members) &&
    fieldsOf(fields?.properties) !== undefined;
  if (!isEdge) throw new Error(`all_edges[${at}] is not an edge; use the answer as it was sent.`);
  return fields as unknown as EdgeSaying;
}
