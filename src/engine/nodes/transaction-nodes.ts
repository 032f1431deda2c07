// The nodes of a transaction: the numbers it holds for keys that nobody has used, the nodes it
// creates, and those it deletes.

import { HedgerowError } from '../../errors.ts';
import type { NodeKey, NodeRef } from '../../model/node-refs.ts';
import type { Steps } from '../../schedule/steps.ts';
import type { EngineContext } from '../context.ts';
import type { Table } from '../table/table.ts';
import { STAGED, type StagedList } from '../transaction/staged-list.ts';
import { assertAlive } from './alive.ts';
import { edgesOf, nodeInUse } from './in-use.ts';
import type { NodeKind } from './node-directory.ts';

/** What the check of a deletion must know of the transaction. */
export interface OwnView {
  /** Returns whether the transaction itself has deleted or changed an edge. */
  isChanged(table: Table, key: { eventTs: number; id: number }): boolean;
  /** Returns whether the transaction sees an edge of the table that has the node. */
  seesEdge(table: Table, number: number): boolean;
}

/** New nodes that are checked in one step. */
const NODES_A_STEP = 1024;

export class TransactionNodes {
  readonly #context: EngineContext;
  readonly #lsn: number | undefined;
  readonly held: number[] = [];
  /** The nodes that the transaction creates, with the place of the operation. */
  readonly #born = new Map<number, number>();
  /** The nodes that the transaction deletes, with the place of the operation. */
  readonly #dead = new Map<number, number>();
  /** When the first member was found; undefined before. */
  #deathMark: number | undefined;

  /** `lsn` is the LSN of the snapshots of a pinned transaction. */
  constructor(context: EngineContext, lsn: number | undefined) {
    this.#context = context;
    this.#lsn = lsn;
  }

  /** Notes that members are looked up from now on. */
  begin(): void {
    this.#deathMark ??= this.#context.nodes.deathMark;
  }

  isBorn(number: number): boolean {
    return this.#born.has(number);
  }

  bear(number: number, place: number): void {
    this.begin();
    this.#born.set(number, place);
  }

  /**
   * Returns the numbers of the members of an edge; new ones are held. A table that creates no nodes
   * takes those that the transaction creates. Throws like `NodeDirectory.resolve` and
   * `assertThere`.
   */
  resolve(table: Table, refs: readonly NodeRef[]): number[] {
    if (this.#lsn !== undefined) for (const { kind, key } of refs) this.assertThere(table.kinds![kind]!, key);
    return this.#context.nodes.resolve(table, refs, this.held, (number) => this.#born.has(number));
  }

  /**
   * Throws `conflict` if another commit has deleted a node with this key since the snapshot was
   * taken: the transaction sees it, and would create a second one.
   */
  assertThere(kind: NodeKind, key: NodeKey): void {
    if (this.#lsn === undefined || !this.#context.nodes.hasDiedSince(kind, key, this.#lsn)) return;
    throw new HedgerowError(
      'conflict',
      `Another commit has deleted the ${kind.name} with the key ${JSON.stringify(key)} meanwhile. Nothing was applied; begin again.`,
    );
  }

  /** Throws `conflict` if the transaction deletes one of the nodes. */
  assertKept(table: Table, numbers: readonly number[]): void {
    const gone = this.#dead.size === 0 ? undefined : numbers.find((number) => this.#dead.has(number));
    if (gone !== undefined) throw this.deletedHere(table, gone);
  }

  deletedHere({ name, context }: Table, number: number): HedgerowError {
    const key = JSON.stringify(context.nodes.shown(number, false));
    return new HedgerowError(
      'conflict',
      `The transaction deletes the node ${key}, which is used again in table ${name}. Commit the deletion first.`,
    );
  }

  isDead(number: number): boolean {
    return this.#dead.has(number);
  }

  bury(number: number, place: number): void {
    this.#dead.set(number, place);
  }

  /** Returns the number of a node, which may be one that the transaction creates; 0 if unknown. */
  find(kind: NodeKind, key: NodeKey): number {
    kind.table.assertUsable();
    const { keys } = this.#context.nodes;
    const number = keys.find(kind.slot, key);
    return number !== 0 && (keys.isLive(number) || this.#born.has(number)) ? number : 0;
  }

  /** Like `find`. Throws `conflict` like `assertThere`. */
  findThere(kind: NodeKind, key: NodeKey): number {
    this.assertThere(kind, key);
    return this.find(kind, key);
  }

  /** Forgets what was staged from `mark` on. Held numbers stay held until the end. */
  rewind(mark: number): void {
    for (const nodes of [this.#born, this.#dead])
      for (const [number, place] of nodes) if (place >= mark) nodes.delete(number);
  }

  /**
   * Checks, when the transaction commits, that nobody has deleted a node which it takes or creates,
   * and that no edge holds a node which it deletes. Throws `conflict` or `node_in_use`.
   */
  *check(staged: StagedList, own: OwnView): Steps<void> {
    if (this.#deathMark !== undefined && this.#deathMark !== this.#context.nodes.deathMark) {
      yield* this.#checkTaken(staged, this.#deathMark);
      yield* this.#checkBorn();
    }
    for (const number of this.#dead.keys()) {
      const kind = this.#context.nodes.kindOfNumber(number);
      if (kind === undefined) continue;
      this.assertFree(kind.table, number, own);
      yield undefined;
    }
  }

  *#checkTaken(staged: StagedList, deathMark: number): Steps<void> {
    for (let place = 0; place < staged.length; place++) {
      const kind = staged.kindAt(place);
      const table = staged.tableAt(place);
      if (table.kinds === undefined || (kind !== STAGED.insert && kind !== STAGED.update)) continue;
      const { chunk, from, to } = staged.recordAt(place);
      yield* assertAlive(table, deathMark, [{ bytes: chunk.subarray(from, to) }]);
    }
  }

  /**
   * Throws `conflict` if another commit has created and deleted a node that the transaction
   * creates: its number belongs to the deleted node.
   */
  *#checkBorn(): Steps<void> {
    const { nodes } = this.#context;
    let checked = 0;
    for (const number of this.#born.keys()) {
      if (nodes.isDead(number)) throw gone(nodes.kindOfNumber(number)!.table, nodes.keys.keyOf(number)!);
      if (++checked % NODES_A_STEP === 0) yield undefined;
    }
  }

  /** Throws `node_in_use` if an edge holds the node. */
  assertFree(nodeTable: Table, number: number, own: OwnView): void {
    for (const table of this.#context.nodes.usersOf(nodeTable)) {
      if (own.seesEdge(table, number)) throw nodeInUse(nodeTable, number, table);
      for (const key of edgesOf(table, number))
        if (!own.isChanged(table, key)) throw nodeInUse(nodeTable, number, table);
    }
  }

  /** Gives the holds back. */
  release(): void {
    this.#context.nodes.release(this.held.splice(0));
  }
}

function gone({ name }: Table, key: NodeKey): HedgerowError {
  return new HedgerowError(
    'conflict',
    `Another commit has created and deleted the ${name} with the key ${JSON.stringify(key)} meanwhile. Nothing was applied; begin again.`,
  );
}
