// The attributes of edges or nodes in a HIF document: which columns they become, and what of them
// the columns cannot hold.

import type { ColumnType } from '../../../engine/index.ts';
import { isoSeconds } from '../../../iso-time.ts';
import { IDENTIFIER, RESERVED_NAMES } from '../../../model/columns.ts';
import { cellType, commonType } from '../../../tabular/cell-types.ts';
import { jsonText } from '../rows/cell-types.ts';

export type HifAttrsValue = Readonly<Record<string, unknown>>;

/** A column for an attribute. */
export interface AttrColumn {
  readonly attr: string;
  readonly column: string;
  readonly type: ColumnType;
}

/** What is known about the values of an attribute that are not null. */
interface Seen {
  readonly types: Set<ColumnType>;
  /** True when a value is a list or an object. */
  isNested: boolean;
  /** True when all values are times in ISO 8601. */
  areTimes: boolean;
}

/** Turns lists and objects into JSON text; leaves other values unchanged. */
export function plainAttr(value: unknown): unknown {
  return typeof value === 'object' && value !== null ? jsonText(value) : (value ?? null);
}

export class HifAttrs {
  readonly #seen = new Map<string, Seen>();

  get names(): string[] {
    return [...this.#seen.keys()];
  }

  add(attrs: HifAttrsValue): void {
    for (const [name, value] of Object.entries(attrs)) {
      const seen = this.#seen.get(name) ?? { types: new Set<ColumnType>(), isNested: false, areTimes: true };
      this.#seen.set(name, seen);
      if (value === null) continue;
      if (typeof value === 'object') seen.isNested = true;
      seen.types.add(cellType(plainAttr(value), true)!);
      if (seen.areTimes) seen.areTimes = typeof value === 'string' && isoSeconds(value) !== undefined;
    }
  }

  /** Returns whether all values of an attribute, of which there are some, are numbers. */
  isNumeric(name: string): boolean {
    const type = this.typeOf(name);
    return type === 'INTEGER' || type === 'REAL';
  }

  /** Returns whether all values of an attribute, of which there are some, are integers. */
  isInteger(name: string): boolean {
    return this.typeOf(name) === 'INTEGER';
  }

  /** Returns whether all values of an attribute, of which there are some, are times as texts. */
  areTimes(name: string): boolean {
    const seen = this.#seen.get(name);
    return seen !== undefined && seen.types.size > 0 && seen.areTimes;
  }

  /** Returns the type that holds all values; undefined if there are none. */
  typeOf(name: string): ColumnType | undefined {
    const seen = this.#seen.get(name);
    return seen === undefined || seen.types.size === 0 ? undefined : commonType(seen.types);
  }

  /**
   * Returns the columns of some attributes. `nameOf` gives the name of a column that no other one
   * has; it is asked first for attributes whose own name it may give, so that they keep it.
   */
  columns(attrs: readonly string[], nameOf: (attr: string) => string): AttrColumn[] {
    const inOrder = [
      ...attrs.filter((name) => IDENTIFIER.test(name)),
      ...attrs.filter((name) => !IDENTIFIER.test(name)),
    ];
    const fits = inOrder.filter((name) => !RESERVED_NAMES.has(name.toLowerCase()));
    const names = new Map<string, string>();
    for (const attr of [...fits, ...inOrder]) if (!names.has(attr)) names.set(attr, nameOf(attr));
    return attrs.map((attr) => ({ attr, column: names.get(attr)!, type: this.typeOf(attr) ?? 'TEXT' }));
  }

  /** Describes what the columns do not keep of their attributes; `of` is `edges` or `nodes`. */
  losses(columns: readonly AttrColumn[], of: 'edges' | 'nodes'): string[] {
    return columns.flatMap(({ attr, column }) => {
      const { types, isNested } = this.#seen.get(attr)!;
      const isMixed = types.size > 1 && commonType(types) === 'TEXT';
      const shown = JSON.stringify(attr.length > 40 ? `${attr.slice(0, 40)}...` : attr);
      return [
        ...(attr === column ? [] : [`the name of the attribute ${shown} of ${of} (now ${column})`]),
        ...(isNested ? [`the structure of the attribute ${shown} of ${of} (now JSON texts)`] : []),
        ...(isMixed ? [`the types of the attribute ${shown} of ${of} (now texts)`] : []),
      ];
    });
  }
}

/** Returns whether a value contains a number beyond the range of doubles, which JSON can have. */
export function hasHugeNumber(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some(hasHugeNumber);
}
