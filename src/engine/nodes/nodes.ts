// The node tables of a database and the nodes in them, as the layers above use them.

import { type KeyForm, RecordText } from '../../core/index.ts';
import type { Attach } from '../../model/kept-answer.ts';
import type { KindAndKey, NodeKey } from '../../model/node-refs.ts';
import type { AlterAction } from '../catalog/alter.ts';
import type { Ddl } from '../catalog/ddl.ts';
import type { NamedTableInput } from '../catalog/named-table.ts';
import type { TableSet } from '../catalog/table-set.ts';
import type { EngineContext } from '../context.ts';
import type { Snapshot } from '../table/snapshot.ts';
import type { Table } from '../table/table.ts';
import { keyColumnOf, type NodeTableInput, type NodeTableItem, nodeTableItem } from './definitions.ts';
import type { FoldedKeys } from './folded-keys.ts';

import { type KeyOrder, placeIn } from './key-orders.ts';
import type { NodeKind } from './node-directory.ts';
import { nodeTexts } from './node-reader.ts';

export interface NodesOptions {
  readonly context: EngineContext;
  readonly tables: TableSet;
  readonly ddl: Ddl;
}

export class Nodes {
  readonly #options: NodesOptions;
  #reader: RecordText | undefined;

  constructor(options: NodesOptions) {
    this.#options = options;
  }

  // Node tables

  /** Returns the node table with that name in any case. Throws `table_not_found`. */
  table(name: string): Table {
    return this.#options.tables.nodes(name);
  }

  /** Returns all node tables, ordered by name. The returned list is never modified. */
  tables(): readonly Table[] {
    return this.#options.tables.ofNodes();
  }

  /** Returns the hyperedge tables whose members are nodes of a node table. */
  usersOf(table: Table): readonly Table[] {
    return this.#options.context.nodes.usersOf(table);
  }

  /** Returns the form of a node table for clients. */
  item(table: Table, withDefaults = false): NodeTableItem {
    return nodeTableItem(table.definition, table.rowCount, withDefaults);
  }

  /** Returns the name of the column that holds the keys. */
  keyName(table: Table): string {
    return keyColumnOf(table.definition).name;
  }

  /** Creates a node table. Rejects like `Ddl.createNodeTable`. */
  createTable(input: NodeTableInput, attach?: Attach<NodeTableItem>): Promise<Table> {
    return this.#options.ddl.createNodeTable(input, attach);
  }

  /**
   * Returns a table whose members are nodes, after creating it and its node table if it is missing.
   * Rejects like `Ddl.ensureNamedTable`.
   */
  ensureNamedTable(input: NamedTableInput): Promise<Table> {
    return this.#options.ddl.ensureNamedTable(input);
  }

  /** Changes columns, name or options of a node table. Rejects like `Ddl.alterTable`. */
  alterTable(name: string, action: AlterAction, attach?: Attach<NodeTableItem>): Promise<Table> {
    return this.#options.ddl.alterNodeTable(this.table(name).name, action, attach);
  }

  /**
   * Drops a node table and its nodes. Rejects with `table_in_use` while the members of a hyperedge
   * table are its nodes, and like `Ddl.dropTable`.
   */
  dropTable(name: string, attach?: Attach<{ name: string }>): Promise<void> {
    return this.#options.ddl.dropTable(this.table(name).name, attach);
  }

  /** Returns a node table as a kind of members. */
  kind(table: Table): NodeKind {
    return this.#options.context.nodes.kindOf(table);
  }

  // Nodes

  /**
   * Returns the nodes of a table in the order of their keys: texts by code point, integers by
   * value. The order contains all nodes of the states that are visible now, and may contain others:
   * `texts` tells which ones a snapshot shows. Rejects with `overloaded`.
   */
  order(table: Table): Promise<KeyOrder> {
    const { nodes, nowUs, pauses } = this.#options.context;
    return nodes.orders.of(nodes.kindOf(table), { nowUs, pause: pauses.figures });
  }

  /** Returns the place after a node in an order; undefined if the node is not known any more. */
  placeAfter({ numbers }: Pick<KeyOrder, 'numbers'>, number: number): number | undefined {
    const { nodes } = this.#options.context;
    const key = nodes.isUsed ? nodes.keys.keyOf(number) : undefined;
    if (key === undefined) return undefined;
    const place = placeIn(numbers, key, number, (each) => nodes.keys.keyOf(each)!);
    return numbers[place] === number ? place + 1 : place;
  }

  /**
   * Returns the rows of at most MOST_READ nodes as JSON text; undefined for a node that the
   * snapshot does not show. Throws `table_corrupt`.
   */
  texts(table: Table, snapshot: Snapshot, numbers: ArrayLike<number>): (string | undefined)[] {
    this.#reader ??= new RecordText(this.#options.context.residency.instance());
    return nodeTexts(table, snapshot, numbers, this.#reader);
  }

  /** Returns the number of the node with a key in the newest state, or 0 if there is none. */
  find(table: Table, key: NodeKey): number {
    const { nodes } = this.#options.context;
    return nodes.find(nodes.kindOf(table), key);
  }

  /**
   * Returns the number of the node with a key in the state at an LSN, or 0 if there is none;
   * undefined if that state is no longer held. Throws `table_corrupt`.
   */
  findAt(table: Table, key: NodeKey, lsn: number): number | undefined {
    table.assertUsable();
    const { nodes } = this.#options.context;
    return nodes.findAt(nodes.kindOf(table), key, lsn);
  }

  /** Returns the index of TEXT keys by their folded form. */
  get folded(): FoldedKeys {
    return this.#options.context.nodes.folded;
  }

  /** Returns a member as answers show it; null if there never was such a node. */
  shown(number: number, asObject: boolean): NodeKey | KindAndKey | null {
    return this.#options.context.nodes.shown(number, asObject);
  }

  /** Returns the key of a node and the name of its kind; undefined if there never was one. */
  nodeOf(number: number): KindAndKey | undefined {
    return (this.shown(number, true) as KindAndKey | null) ?? undefined;
  }

  /** Replaces the marks in text (`assembly/json/marks.ts`) by keys in a form. */
  translate(text: Uint8Array, form: KeyForm): Uint8Array<ArrayBuffer> {
    return this.#options.context.nodes.keys.translate(text, form);
  }
}
