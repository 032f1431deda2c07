// The nodes of a database: the node tables as kinds of members, and the dictionary of their keys.
//
// Every node has an internal number, from one sequence for the whole database; numbers are never
// reused. Indexes, records and measures work on numbers. The dictionary (core/key-dictionary.ts)
// translates keys to numbers when an edge is written or looked up, and numbers to keys when rows
// are shown. It is in memory completely: it is filled from the rows of the node tables when the
// database opens, and changed with every frame that is applied.
//
// A writer that meets a key nobody has used holds a number for it. Writers that meet the same key
// meanwhile share the number. The first of them that commits creates the node; when a writer ends,
// it gives its holds back, and a number that nobody holds and no commit created is forgotten.
//
// A node that is deleted is free to be created again, with another number. Its key is still found
// by its old number, and its old number by its key at an older LSN (dead-keys.ts), because older
// snapshots show it. A commit whose members were found before a
// deletion is refused if it takes a node that is gone.

import { assert } from '../../assert.ts';
import { type Core, EdgeBatch, KeyDictionary, KeyedSink, type KeyForm, type TextSink } from '../../core/index.ts';
import { HedgerowError } from '../../errors.ts';
import type { KindAndKey, MemberKind, NodeKey, NodeRef } from '../../model/node-refs.ts';
import type { TableDefinition } from '../catalog/catalog.ts';
import type { CatalogChange } from '../catalog/changes.ts';
import type { Table } from '../table/table.ts';
import { DeadKeys } from './dead-keys.ts';
import { keyColumnOf } from './definitions.ts';
import { FoldedKeys } from './folded-keys.ts';
import { KeyOrders } from './key-orders.ts';

/** A node table as a kind of members. */
export interface NodeKind extends MemberKind {
  readonly table: Table;
  /** Number of the kind in the dictionary. */
  readonly slot: number;
  /** Id of the column that holds the keys. */
  readonly keyColumn: number;
}

/**
 * Finds the number of a node, 0 if no node has the key: in the newest state, or in a transaction.
 */
export interface NodeFinder {
  find(kind: NodeKind, key: NodeKey): number;
}

/** The time and member set of edges to remove. */
export interface TimeAndSet {
  event_ts: number;
  members: number[];
}

export interface NodeDirectoryOptions {
  readonly instantiate: () => Core;
  /** Charges memory to the budget of the database; negative to give it back. */
  readonly charge: (bytes: number) => void;
  /** The LSN of the newest state that readers see. */
  readonly visibleLsn: () => number;
  /** Size in bytes at which the dictionary takes no new keys. */
  readonly limitBytes: number;
}

/** A number that no node has. */
export const NO_NODE = 0;

const isNone = (_: number): boolean => false;

/** Deaths that are remembered for writers that began before them. */
const MOST_DEATHS = 65_536;

export class NodeDirectory {
  readonly #options: NodeDirectoryOptions;
  #keys: KeyDictionary | undefined;
  #chargedBytes = 0;
  #folded: FoldedKeys | undefined;
  /** Batches in the dictionary's instance, where lines with keys are read. */
  readonly #batches: EdgeBatch[] = [];
  #sink: KeyedSink | undefined;
  /** By id of the node table. */
  readonly #kinds = new Map<number, NodeKind>();
  readonly #bySlot: (NodeKind | undefined)[] = [];
  /** The named tables. */
  readonly #users = new Set<Table>();
  /** Numbers of nodes deleted since the start, without the first `#deathsDropped`. */
  #deaths: number[] = [];
  /** LSNs of these deletions, ascending, and of the last one before them. */
  #deathLsns: number[] = [];
  #deathsDropped = 0;
  #droppedLsn = 0;

  /** The snapshots of node tables and named tables that are open. */
  readonly #readers = new Map<{ readonly lsn: number }, Table>();
  /** The keys of deleted nodes that these snapshots may show. */
  readonly #deadKeys: DeadKeys;

  /** The nodes by key, for lists. */
  readonly orders: KeyOrders;

  constructor(options: NodeDirectoryOptions) {
    const { charge, limitBytes } = options;
    this.#options = options;
    this.orders = new KeyOrders({ directory: this, charge, limitBytes });
    this.#deadKeys = new DeadKeys(charge, () => this.#oldestSeen());
  }

  /** The dictionary, which is made when it is first needed. */
  get keys(): KeyDictionary {
    if (this.#keys === undefined) {
      this.#keys = new KeyDictionary(this.#options.instantiate());
      this.charge();
    }
    return this.#keys;
  }

  /** Whether there is or was a node table. */
  get isUsed(): boolean {
    return this.#keys !== undefined;
  }

  /** Number of the next node; 1 if there never was one. */
  get nextNumber(): number {
    return this.#keys === undefined ? 1 : this.#keys.next;
  }

  /**
   * Size in bytes of the dictionary, of the orders of keys and of the keys of deleted nodes; 0 if
   * there never was a node table.
   */
  get bytes(): number {
    return this.#chargedBytes + this.orders.bytes + this.#deadKeys.bytes;
  }

  /** Whether the dictionary takes no new keys. */
  get isFull(): boolean {
    return this.keys.bytes >= this.#options.limitBytes;
  }

  /** Charges what the dictionary has grown by. Call it after keys were added. */
  charge(): void {
    const bytes = this.#keys?.bytes ?? 0;
    if (bytes === this.#chargedBytes) return;
    this.#options.charge(bytes - this.#chargedBytes);
    this.#chargedBytes = bytes;
  }

  /** Returns a batch for edges of named tables. It must be given back: its memory is shared. */
  takeBatch(): EdgeBatch {
    return this.#batches.pop() ?? new EdgeBatch(this.keys.core);
  }

  giveBatch(batch: EdgeBatch): void {
    assert(!this.#batches.includes(batch), 'a batch is given back once');
    this.#batches.push(batch);
    this.charge();
  }

  /** Returns the sink that puts keys in place of marks; only one form is in use at a time. */
  sink(form: KeyForm): TextSink {
    this.#sink ??= new KeyedSink(this.keys);
    this.#sink.form = form;
    return this.#sink;
  }

  // Kinds

  /**
   * Reserves memory so that `attach` cannot fail when the changes, which create or rename at most
   * one node table, are applied. Throws `overloaded`.
   */
  prepare(changes: readonly CatalogChange[]): void {
    for (const change of changes) {
      if (change.op === 'create_table' && change.table.key !== undefined)
        this.keys.reserveKind(this.#bySlot.length, change.table.name, hasIntegers(change.table));
      const known = change.op === 'rename_table' ? this.#kinds.get(change.id) : undefined;
      if (change.op === 'rename_table' && known !== undefined)
        this.keys.reserveKind(known.slot, change.name, known.isInteger);
    }
    this.charge();
  }

  /**
   * Makes a node table known. Called again after a change of its name or key column. Throws
   * `overloaded`, with nothing changed, unless it was prepared.
   */
  attach(table: Table): void {
    const { definition } = table;
    const slot = this.#kinds.get(table.id)?.slot ?? this.#bySlot.length;
    const isInteger = hasIntegers(definition);
    this.keys.setKind(slot, definition.name, isInteger);
    const keyColumn = keyColumnOf(definition).id;
    const kind: NodeKind = { table, slot, name: definition.name, isInteger, keyColumn };
    this.#kinds.set(table.id, kind);
    this.#bySlot[slot] = kind;
  }

  kindOf({ id }: Pick<Table, 'id'>): NodeKind {
    const kind = this.#kinds.get(id);
    assert(kind !== undefined, 'a node table is a kind of nodes');
    return kind;
  }

  kindOfSlot(slot: number): NodeKind {
    const kind = this.#bySlot[slot];
    assert(kind !== undefined, 'a slot of the dictionary is a node table');
    return kind;
  }

  /** Returns the kinds of the members of a named table, in the order of its `member_tables`. */
  kindsOf({ nodes }: Pick<TableDefinition, 'nodes'>): readonly NodeKind[] | undefined {
    return nodes?.map((id) => this.kindOf({ id }));
  }

  /** Returns the kind of a node by its number, or undefined if there never was such a node. */
  kindOfNumber(number: number): NodeKind | undefined {
    const slot = this.#keys?.slotOf(number);
    return slot === undefined ? undefined : this.#bySlot[slot];
  }

  hasIntegerKey(number: number): boolean {
    return this.kindOfNumber(number)?.isInteger === true;
  }

  /** Applies the creation of nodes whose numbers are held. */
  created(table: Table, numbers: Uint32Array): void {
    this.keys.makeLive(numbers);
    const kind = this.kindOf(table);
    if (this.orders.isKept(kind)) for (const number of numbers) this.orders.born(kind, number);
  }

  addUser(table: Table): void {
    this.#users.add(table);
  }

  removeUser(table: Table): void {
    this.#users.delete(table);
  }

  /** Returns the hyperedge tables whose members are nodes of a node table. */
  usersOf({ id }: Table): Table[] {
    return [...this.#users].filter(({ definition }) => definition.nodes!.includes(id));
  }

  // Keys to numbers

  /** Returns the number of a node, or 0 if no node has the key. */
  find(kind: NodeKind, key: NodeKey): number {
    kind.table.assertUsable();
    const number = this.keys.find(kind.slot, key);
    return number !== 0 && this.keys.isLive(number) ? number : 0;
  }

  /**
   * Returns the number that a node had in the state at an LSN, which is an open snapshot or the
   * newest visible state; 0 if no node had the key. The number may be of a node that is about to be
   * created: whether its row and its edges are seen depends on the snapshot. Returns undefined if
   * the snapshot was released and the state is no longer known.
   */
  findAt(kind: NodeKind, key: NodeKey, lsn: number): number | undefined {
    const dead = this.#deadKeys.find(kind.slot, key, lsn);
    return dead === 0 ? this.keys.find(kind.slot, key) : dead;
  }

  /** Whether a node with a key was deleted since an LSN, at which a snapshot is open. */
  hasDiedSince(kind: NodeKind, key: NodeKey, lsn: number): boolean {
    return this.#deadKeys.find(kind.slot, key, lsn) !== 0;
  }

  /**
   * Returns the numbers of the members of a named table, in the order of the references. A key that
   * is not known gets a number that the caller holds: it is appended to `held`, and must be given
   * back with `release`, after an error too. Throws `unknown_node` if the table does not create
   * nodes and the caller does not create this one (`isBorn`), `overloaded`, `nodes_exhausted` or
   * `table_corrupt`.
   */
  resolve(table: Table, refs: readonly NodeRef[], held: number[], isBorn = isNone): number[] {
    const kinds = table.kinds!;
    for (const kind of kinds) kind.table.assertUsable();
    const isStrict = table.definition.createNodes === false;
    return refs.map(({ kind: index, key }) => {
      const kind = kinds[index]!;
      const known = this.keys.find(kind.slot, key);
      if (known !== 0 && this.keys.isLive(known)) return known;
      if (isStrict && !isBorn(known)) throw unknownNode(table, kind, key);
      const number = this.hold(kind, key);
      held.push(number);
      return number;
    });
  }

  /** Returns the number of a key, held for the caller. Throws like `resolve`. */
  hold(kind: NodeKind, key: NodeKey): number {
    if (this.isFull)
      throw new HedgerowError(
        'overloaded',
        'The keys of nodes fill their share of the memory budget. Raise the memory budget, or delete nodes and restart.',
        { fields: { settings: ['memoryBudgetMb'] } },
      );
    const number = this.keys.hold(kind.slot, key);
    this.charge();
    return number;
  }

  /** Gives holds back. */
  release(held: readonly number[]): void {
    if (held.length > 0) this.keys.release(held);
  }

  /**
   * Returns the numbers of the members of edges that are to be removed, ascending. A member that no
   * node has is a negative number, which is no member of any edge.
   */
  known(table: Table, refs: readonly NodeRef[], finder: NodeFinder): number[] {
    const kinds = table.kinds!;
    const numbers = refs.map(({ kind, key }, index) => finder.find(kinds[kind]!, key) || -1 - index);
    return numbers.sort((a, b) => a - b);
  }

  // Numbers to keys

  /** Returns a member as answers show it: its key, or its kind and key. */
  shown(number: number, asObject: boolean): NodeKey | KindAndKey | null {
    const key = this.#keys?.keyOf(number);
    if (key === undefined) return null;
    return asObject ? { kind: this.kindOfNumber(number)!.name, key } : key;
  }

  /** Returns whether a node with this number was deleted: it will never be live again. */
  isDead(number: number): boolean {
    return this.keys.isDead(number);
  }

  // Folded keys

  /** The index of keys by their folded form, which is made when it is first needed. */
  get folded(): FoldedKeys {
    this.#folded ??= new FoldedKeys(this, this.#options.charge);
    return this.#folded;
  }

  // Deaths

  /** A position in the list of deaths, for `deathsSince`. */
  get deathMark(): number {
    return this.#deathsDropped + this.#deaths.length;
  }

  /**
   * Returns the numbers of the nodes deleted since a mark, or undefined if they are not known any
   * more.
   */
  deathsSince(mark: number): readonly number[] | undefined {
    return mark < this.#deathsDropped ? undefined : this.#deaths.slice(mark - this.#deathsDropped);
  }

  /**
   * Returns the dead nodes that some snapshot of a node table may show, whether it is open or may
   * be taken later; undefined if they are not known any more. There may be others among them.
   */
  deathsSeen(table: Table): Set<number> | undefined {
    const from = this.#firstSeen(table);
    return from === undefined ? undefined : new Set(this.#deaths.slice(from));
  }

  /** Returns how many `deathsSeen` returns. */
  countDeathsSeen(table: Table): number | undefined {
    const from = this.#firstSeen(table);
    return from === undefined ? undefined : this.#deaths.length - from;
  }

  /** Returns the index of the first death after the oldest state that a snapshot may show. */
  #firstSeen(table: Table): number | undefined {
    let seenLsn = Math.min(table.version.sinceLsn, table.context.committer.visibleLsn);
    for (const [{ lsn }, read] of this.#readers) if (read === table) seenLsn = Math.min(seenLsn, lsn);
    return this.#droppedLsn > seenLsn ? undefined : placeAfter(this.#deathLsns, seenLsn);
  }

  /** Notes that a snapshot of a node table or a named table is open. */
  openedSnapshot(snapshot: { readonly lsn: number }, table: Table): void {
    this.#readers.set(snapshot, table);
  }

  releasedSnapshot(snapshot: { readonly lsn: number }): void {
    if (this.#readers.delete(snapshot)) this.#deadKeys.released(snapshot.lsn);
  }

  /** Returns the LSN of the oldest state that an open or later snapshot shows. */
  #oldestSeen(): number {
    let oldest = this.#options.visibleLsn();
    for (const { lsn } of this.#readers.keys()) oldest = Math.min(oldest, lsn);
    return oldest;
  }

  /** Applies the deletion of a node by the operation with this LSN. */
  died(table: Table, number: number, lsn: number): void {
    const kind = this.kindOf(table);
    this.#deadKeys.add(kind.slot, this.keys.keyOf(number)!, number, lsn);
    this.keys.kill(number);
    this.orders.died(kind, number);
    this.#deaths.push(number);
    this.#deathLsns.push(lsn);
    if (this.#deaths.length <= 2 * MOST_DEATHS) return;
    this.#droppedLsn = this.#deathLsns[MOST_DEATHS - 1]!;
    this.#deaths = this.#deaths.slice(MOST_DEATHS);
    this.#deathLsns = this.#deathLsns.slice(MOST_DEATHS);
    this.#deathsDropped += MOST_DEATHS;
  }

  /** Applies the INSERT records of a node table: new nodes, or new attributes of known ones. */
  written(kind: NodeKind, records: Uint8Array, count: number): void {
    if (this.orders.isKept(kind))
      for (const number of numbersOf(records)) if (!this.keys.isLive(number)) this.orders.born(kind, number);
    this.keys.addRecords(kind.slot, records, count, kind.keyColumn);
    this.charge();
  }
}

/** Returns the index of the first of ascending numbers that is greater than a number. */
function placeAfter(ascending: readonly number[], number: number): number {
  let from = 0;
  let to = ascending.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (ascending[middle]! <= number) from = middle + 1;
    else to = middle;
  }
  return from;
}

function hasIntegers(definition: TableDefinition): boolean {
  return keyColumnOf(definition).type === 'INTEGER';
}

/** Yields the ids of INSERT records. */
function* numbersOf(records: Uint8Array): Generator<number, void, void> {
  const view = new DataView(records.buffer, records.byteOffset, records.byteLength);
  for (let at = 0; at < records.length; at += view.getUint32(at, true)) yield view.getUint32(at + ID_AT, true);
}

/** Offset of the id in a record (assembly/FORMAT.md, section 1). */
const ID_AT = 16;

export function unknownNode(table: Table, kind: NodeKind, key: NodeKey): HedgerowError {
  return new HedgerowError(
    'unknown_node',
    `There is no ${kind.name} with the key ${JSON.stringify(key)}, and table ${table.name} creates no nodes. Create it first, or correct the key.`,
  );
}
