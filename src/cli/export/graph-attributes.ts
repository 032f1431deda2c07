// The attributes of the nodes of a graph file: their names, which are different, and their types.

import type { ResultColumn } from '../../query/copy/index.ts';
import { nameToken } from './xml-text.ts';

export type AttributeType = 'string' | 'long' | 'double' | 'boolean';

export interface Attribute {
  /** Unique among the attributes of the nodes, and a name token of XML. */
  readonly name: string;
  readonly type: AttributeType;
}

/** The value of an attribute, given by the attribute's index, as text. */
export type AttributeValue = readonly [attribute: number, text: string];

/**
 * Names, in lower case, that programs which read graphs give to something else. A column with such
 * a name, or with that of another column, gets the suffix `_2`.
 */
const RESERVED_NAMES = ['id', 'label', 'start', 'end', 'interval', 'timeset'];

export class GraphAttributes {
  readonly #all: Attribute[];
  readonly #taken = new Set(RESERVED_NAMES);
  /** The attributes that columns may share, by name and type. */
  readonly #shared = new Map<string, number>();

  constructor(first: Attribute) {
    this.#all = [first];
    this.#taken.add(first.name);
  }

  get all(): readonly Attribute[] {
    return this.#all;
  }

  /** Adds an attribute for each column, and returns their indexes. */
  add(columns: readonly ResultColumn[]): number[] {
    return columns.map((column) => {
      const type = typeOf(column.type);
      const index = this.#all.push({ name: this.#freeName(nameToken(column.name)), type }) - 1;
      this.#shared.set(`${type} ${column.name}`, index);
      return index;
    });
  }

  /**
   * Returns the indexes of attributes for the columns of a node table. A column of the same name
   * and type in another node table, or among `others`, is the same attribute.
   */
  share(columns: readonly ResultColumn[], others: readonly ResultColumn[]): number[] {
    const isFixed = (name: string) => !others.some((other) => other.name === name) && FIXED.has(name);
    return columns.map((column) => {
      const known = isFixed(column.name) ? undefined : this.#shared.get(`${typeOf(column.type)} ${column.name}`);
      return known ?? this.add([column])[0]!;
    });
  }

  /** Returns the name with a number behind it if it is taken, and takes it. */
  #freeName(name: string): string {
    let free = name;
    for (let number = 2; this.#taken.has(free.toLowerCase()); number++) free = `${name}_${number}`;
    this.#taken.add(free.toLowerCase());
    return free;
  }
}

/** Attributes that no column of a node table shares. */
const FIXED: ReadonlySet<string> = new Set(['event_ts', 'event_time', 'node_table']);

function typeOf(type: ResultColumn['type']): AttributeType {
  switch (type) {
    case 'integer':
      return 'long';
    case 'real':
      return 'double';
    case 'boolean':
      return 'boolean';
    default:
      return 'string';
  }
}

export function valueText(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
