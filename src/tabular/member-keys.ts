// Turns the cells of member columns into members of a named table: keys of nodes, which are checked
// elsewhere.

import type { MemberInput } from '../model/edge.ts';
import type { KindAndKey, MemberKind } from '../model/node-refs.ts';
import { nodeNumber } from './nodes.ts';

export class MemberKeys {
  readonly kinds: readonly MemberKind[];
  /** The kind of the items of a column, by its name in lower case; for several kinds. */
  readonly #kindOf: ReadonlyMap<string, MemberKind>;

  /** Without `kindOf`, a column that is named like a kind has items of that kind. */
  constructor(kinds: readonly MemberKind[], kindOf: ReadonlyMap<string, MemberKind> = new Map()) {
    this.kinds = kinds;
    const byName = kinds.map((kind) => [kind.name.toLowerCase(), kind] as const);
    this.#kindOf = new Map([...byName, ...kindOf]);
  }

  /**
   * Returns the member for an item of a cell: a text, a number, or an object with `kind` and `key`.
   */
  memberOf(item: unknown, column: string): MemberInput {
    if (typeof item === 'object' && item !== null) return item as KindAndKey;
    const [only] = this.kinds;
    if (this.kinds.length === 1) return keyOf(item, only!);
    const kind = this.#kindOf.get(column.toLowerCase());
    // Without a kind the row is refused with the kinds that there are.
    return kind === undefined ? (item as string) : { kind: kind.name, key: keyOf(item, kind) };
  }
}

/** Returns the key. What cannot be a key of the kind is left as it is, to be refused. */
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
