// Turns the cells of member columns into members of a named table: keys of nodes, which the target
// checks and for which it creates nodes.

import type { MemberInput } from '../../model/edge.ts';
import type { KindAndKey, MemberKind } from '../../model/node-refs.ts';
import { nodeNumber } from '../../tabular/nodes.ts';
import type { NamedNode } from './line-batches.ts';
import type { NodeNames } from './node-names.ts';

/** What becomes of the names of nodes: numbers that the import assigns, or keys. */
export type Members = NodeNames | NodeKeys;

export class NodeKeys {
  readonly #kinds: readonly MemberKind[];
  /** The kind of a member column that is named like a kind, for tables with several kinds. */
  readonly #kindOf: ReadonlyMap<string, MemberKind>;

  constructor(kinds: readonly MemberKind[]) {
    this.#kinds = kinds;
    this.#kindOf = new Map(kinds.map((kind) => [kind.name.toLowerCase(), kind]));
  }

  /**
   * Returns the member for an item of a cell: a text, a number, or an object with `kind` and `key`.
   * In a table with several kinds, items of a column that is named like a kind are of that kind.
   */
  memberOf(item: unknown, column: string): MemberInput {
    if (typeof item === 'object' && item !== null) return item as KindAndKey;
    const [only] = this.#kinds;
    if (this.#kinds.length === 1) return keyOf(item, only!);
    const kind = this.#kindOf.get(column.toLowerCase());
    // Without a kind the target refuses the row, and says which kinds there are.
    return kind === undefined ? (item as string) : { kind: kind.name, key: keyOf(item, kind) };
  }

  // Keys get no numbers here, so no name waits to be stored.

  readonly waiting = 0;

  take(): readonly NamedNode[] {
    return [];
  }

  forget(): void {}
}

/** Returns the key. What cannot be a key of the kind is left as it is, for the target to refuse. */
function keyOf(item: unknown, { isInteger }: MemberKind): string | number {
  if (!isInteger) return String(item);
  const number = nodeNumber(String(item));
  return Number.isNaN(number) ? (item as string) : number;
}

/** Returns the kinds that items with `kind` and `key` name. */
export function kindsIn(items: readonly unknown[]): MemberKind[] {
  const kinds = new Map<string, MemberKind>();
  for (const item of items) {
    if (typeof item !== 'object' || item === null) continue;
    const { kind: name, key } = item as Partial<KindAndKey>;
    if (typeof name !== 'string') continue;
    const lower = name.toLowerCase();
    const known = kinds.get(lower);
    const isInteger = typeof key === 'number' && known?.isInteger !== false;
    kinds.set(lower, { name: known?.name ?? name, isInteger });
  }
  return [...kinds.values()];
}
