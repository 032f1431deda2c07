// Reads the kinds and attributes of nodes of a named table, for the base facts `node` and
// `attribute`. Attributes are those of the newest state when they are read.

import type { NodeKind } from '../../engine/index.ts';
import { kindOfType } from '../../model/column-types.ts';
import { type Constant, isAboutNodes, type RuleSet } from '../../rules/index.ts';
import type { Steps } from '../../schedule/steps.ts';
import { cellOf, EdgeReader } from './edge-rows.ts';
import type { Member, MemberKeys } from './member-keys.ts';

export interface NodeFact {
  readonly kind: string;
  /** Attributes that are not null, by the name of their column. */
  readonly attributes: (readonly [column: string, value: Constant])[];
}

export type NodeFacts = ReadonlyMap<Member, NodeFact>;

/** Number of members that one step looks up. */
const STEP_MEMBERS = 2000;
/** Numbers of nodes with at most this many others between them are read together. */
const MOST_BETWEEN = 48;
/** Maximum number of rows of one read. */
const MOST_AT_ONCE = 8192;

/**
 * Reads the facts about the members of the edges, and about the nodes that rules name in the
 * predicates `node` and `attribute`. Empty if no rule uses these.
 */
export function* nodeFacts(
  edges: readonly { readonly members: readonly Member[] }[],
  rules: RuleSet,
  keys: MemberKeys,
): Steps<NodeFacts> {
  const facts = new Map<Member, NodeFact>();
  const named = namedNodes(rules);
  if (named === undefined) return facts;
  const numbers = new Map<NodeKind, [number, Member][]>(keys.kinds.map((kind) => [kind, []]));
  let members = 0;
  const add = (member: Member) => {
    const number = facts.has(member) ? undefined : keys.numberOf(member);
    if (number === undefined) return;
    const { kind: name } = keys.nodeOf(member);
    facts.set(member, { kind: name, attributes: [] });
    numbers.get(keys.kinds.find((kind) => kind.name === name)!)!.push([number, member]);
  };
  for (const member of named) add(member);
  for (const edge of edges) {
    for (const member of edge.members) {
      add(member);
      if (members++ % STEP_MEMBERS === STEP_MEMBERS - 1) yield undefined;
    }
  }
  for (const [kind, found] of numbers) yield* readAttributes(kind, found, facts);
  return facts;
}

/** Returns the nodes that rules name in `node` and `attribute`; undefined if no rule uses these. */
function namedNodes({ rules }: RuleSet): Member[] | undefined {
  const atoms = rules.flatMap(({ body }) => body.flatMap((one) => (one.kind === 'compare' ? [] : [one.atom])));
  const used = atoms.filter(isAboutNodes);
  if (used.length === 0) return undefined;
  return used.flatMap(({ args: [node] }) =>
    node !== undefined && 'constant' in node && typeof node.constant !== 'boolean' ? [node.constant] : [],
  );
}

function* readAttributes(
  { table, keyColumn }: NodeKind,
  found: readonly [number, Member][],
  facts: NodeFacts,
): Steps<void> {
  const snapshot = table.snapshot();
  try {
    const columns = snapshot.columns.columns.filter(({ id }) => id !== keyColumn);
    if (columns.length === 0) return;
    const reader = new EdgeReader(table, snapshot, { members: false, columns: new Set(columns.map(({ id }) => id)) });
    const memberOf = new Map(found);
    for (const { startTs, endTs } of rangesOf([...memberOf.keys()].sort((a, b) => a - b))) {
      for (const rows of reader.readKeys({ startTs, endTs })) {
        for (let row = 0; row < (rows?.rows ?? 0); row++) {
          const member = memberOf.get(rows!.ids[row]!);
          if (member === undefined) continue;
          for (const { id, name, type } of columns) {
            const value = cellOf(rows!.columns.get(id), row, kindOfType(type) === 'boolean');
            if (value !== null) facts.get(member)!.attributes.push([name, value]);
          }
        }
        yield undefined;
      }
    }
  } finally {
    snapshot.release();
  }
}

/** Yields ranges that cover all numbers, which ascend. The time of a node is its number. */
function* rangesOf(numbers: readonly number[]): Generator<{ startTs: number; endTs: number }> {
  for (let at = 0; at < numbers.length; ) {
    const startTs = numbers[at]!;
    let endTs = startTs;
    for (at++; at < numbers.length; at++) {
      const next = numbers[at]!;
      if (next - endTs > MOST_BETWEEN || next - startTs >= MOST_AT_ONCE) break;
      endTs = next;
    }
    yield { startTs, endTs };
  }
}
