// The transactions of a random history of named tables: edges that create nodes, nodes that are
// written, patched and deleted, reads of own writes, marks, rollbacks and conflicts.

import type { Table, Transaction } from '../../src/engine/index.ts';
import { markedPlanOf } from '../../src/engine/index.ts';
import { select } from '../model/naive-table.ts';
import {
  type EdgeTable,
  type EdgeVersion,
  edgeRows,
  type NaiveKind,
  type NaiveNode,
  type NodeTable,
  type NodeVersion,
  nodeRows,
} from '../model/named-state.ts';
import type { CommitPlan } from './named-plan.ts';
import type { NamedReads } from './named-reads.ts';
import type { EdgeSpec, Ref } from './named-source.ts';
import {
  applied,
  isSameShape,
  nodeOf,
  numbersByRole,
  OpenTransaction,
  type Staged,
  versionOf,
} from './named-staged.ts';
import type { NamedWorld } from './named-world.ts';
import { edgeOf, resolveEdge } from './named-writes.ts';

export class NamedTransactions {
  readonly #world: NamedWorld;
  readonly #reads: NamedReads;
  #open: OpenTransaction[] = [];
  /** Whether the last refusal was for want of memory. */
  #wasShort = false;

  constructor(world: NamedWorld, reads: NamedReads) {
    this.#world = world;
    this.#reads = reads;
  }

  forget(): void {
    this.#open = [];
  }

  rollBackAll(): void {
    for (const open of this.#open.splice(0)) this.#rollBack(open);
  }

  /** Stages something in a transaction, and often ends it. */
  async step(): Promise<void> {
    const { random, source } = this.#world;
    if (this.#open.length === 0 || (this.#open.length < 3 && random.chance(0.3))) {
      const begun = this.#begin(true);
      if (begun !== undefined) this.#open.push(begun);
    }
    if (this.#open.length === 0) return;
    const open = source.pick(this.#open);
    for (let count = 1 + random.below(4); count > 0; count--) this.#stage(open);
    if (random.chance(0.2)) this.#stageInVain(open);
    if (random.chance(0.5)) return;
    this.#open = this.#open.filter((other) => other !== open);
    if (random.chance(0.25)) this.#rollBack(open);
    else await this.#commit(open);
  }

  /** Writes or deletes a few nodes in a transaction that commits at once, as a request does. */
  async writeNodes(): Promise<void> {
    const { random } = this.#world;
    if (this.#world.state.kinds.length === 0) return;
    const open = this.#begin(false);
    if (open === undefined) return;
    for (let count = 1 + random.below(random.chance(0.2) ? 12 : 2); count > 0; count--) this.#node(open);
    await this.#commit(open);
  }

  /** Deletes the edges of a node, and then the node, in one transaction. */
  async deleteWithEdges(): Promise<void> {
    const { source, state } = this.#world;
    const used = state.tables.flatMap(({ rows }) => rows.flatMap(({ members }) => [...members]));
    if (used.length === 0) return;
    const node = source.pick(used);
    const open = this.#begin(false);
    if (open === undefined) return;
    for (const { token } of state.usersOf(node.kind))
      for (const edge of open.edges(token)) if (edge.members.has(node)) this.#removeEdge(open, token, edge);
    this.#deleteNode(open, node.kind, node.key);
    await this.#commit(open);
  }

  /** Begins a transaction; returns undefined if memory is short. */
  #begin(pinned: boolean): OpenTransaction | undefined {
    const world = this.#world;
    let tx: Transaction;
    try {
      tx = world.db.begin({ pinned });
    } catch (error) {
      if (!world.isShortOfMemory(error)) throw error;
      world.saw('begin without memory');
      return undefined;
    }
    const open = new OpenTransaction(tx, world.visible(), pinned);
    world.holders.add(open);
    world.note(`begin${pinned ? ' pinned' : ''} at ${tx.lsn}`);
    return open;
  }

  #rollBack(open: OpenTransaction): void {
    open.tx.rollback();
    this.#world.release(open);
    this.#world.note('rollback');
    this.#world.saw('rollback');
  }

  /** Stages something and rewinds it, like a statement that fails. */
  #stageInVain(open: OpenTransaction): void {
    const mark = open.tx.mark();
    const { length } = open.staged;
    for (let count = 1 + this.#world.random.below(3); count > 0; count--) this.#stage(open);
    open.tx.rewind(mark);
    open.staged.length = length;
    this.#world.note('rewind');
    this.#world.saw('rewind');
  }

  #stage(open: OpenTransaction): void {
    const { random, state } = this.#world;
    const dice = random.below(20);
    const table = this.#world.anyTable();
    if (dice < 6 || table === undefined) {
      if (state.kinds.length > 0) this.#node(open);
    } else if (dice < 10) this.#insert(open, table);
    else if (dice < 13) this.#change(open, table);
    else if (dice < 15) this.#delete(open, table);
    else this.#read(open, table);
  }

  /**
   * Stages one operation. If it is refused, nothing may be staged. Returns undefined then; throws
   * unless it is refused with `code`, if there is one.
   */
  #try<T>(open: OpenTransaction, what: string, code: string | undefined, stage: () => T): T | undefined {
    const world = this.#world;
    const before = open.tx.operations;
    this.#wasShort = false;
    const mark = world.isShort ? open.tx.mark() : undefined;
    world.note(`tx ${what}${code === undefined ? '' : ` (${code})`}`);
    try {
      const value = stage();
      if (code === undefined) return value;
    } catch (error) {
      const found = (error as { code?: string }).code;
      if (found !== code && !world.isShortOfMemory(error)) throw error;
      this.#wasShort = found !== code;
      if (mark !== undefined) open.tx.rewind(mark);
      if (open.tx.operations !== before) throw new Error(`${what} was refused, but something is staged`);
      world.saw(`refused in a transaction: ${found}`);
      return undefined;
    }
    throw new Error(`${what} was not refused with ${code}`);
  }

  // Edges

  /** Returns the code with which members are refused. */
  #refusal(open: OpenTransaction, table: EdgeTable, refs: readonly Ref[]): string | undefined {
    const { state } = this.#world;
    const { dead } = open;
    if (refs.some((ref) => this.#isGone(open, ref))) return 'conflict';
    const isUnknown = ({ kind, key }: Ref): boolean => {
      if (state.find(kind, key) !== undefined) return false;
      return ![...open.held].some((node) => node.kind === kind && node.key === key && this.#isOwn(open, node));
    };
    if (!table.createNodes && refs.some(isUnknown)) return 'unknown_node';
    const isDead = ({ kind, key }: Ref): boolean =>
      [...dead].some((node) => node.kind === kind && node.key === key && this.#isFound(node));
    return refs.some(isDead) ? 'conflict' : undefined;
  }

  /** Whether another commit has deleted a node with the key since the snapshots were taken. */
  #isGone(open: OpenTransaction, ref: Ref): boolean {
    return open.isPinned && this.#world.deaths.isSince(ref, open.tx.lsn);
  }

  /** Whether the transaction creates the node. */
  #isOwn(open: OpenTransaction, node: NaiveNode): boolean {
    return open.isBorn(node) && this.#isFound(node);
  }

  /** Whether the key of the node still leads to it: another commit has not deleted it. */
  #isFound(node: NaiveNode): boolean {
    const { state } = this.#world;
    return state.isLive(node) || !this.#world.isBorn(node);
  }

  #insert(open: OpenTransaction, table: EdgeTable): void {
    const world = this.#world;
    const { source } = world;
    const spec = source.edge(table);
    const refs = [...spec.members, ...spec.roles.flat()];
    const real = world.tableOf(table);
    const id = real.nextId;
    const what = `insert ${table.name} ${id}@${spec.event_ts}`;
    const code = this.#refusal(open, table, refs);
    const row = this.#try(open, what, code, () => open.tx.insert(real, source.input(table, spec)));
    this.#hold(open, table, refs);
    if (row === undefined) return;
    const resolved = resolveEdge(spec, (ref) => world.resolve(ref, open));
    this.#bear(open, resolved.members);
    open.staged.push({ kind: 'insert', token: table.token, edge: edgeOf(table, id, spec, resolved) });
    world.learnMembers(row, resolved.members);
  }

  /** The numbers of keys that were looked up stay held, even if the operation was refused. */
  #hold(open: OpenTransaction, table: EdgeTable, refs: readonly Ref[]): void {
    if (!table.createNodes || this.#wasShort || refs.some((ref) => this.#isGone(open, ref))) return;
    for (const ref of refs) this.#world.resolve(ref, open);
  }

  #bear(open: OpenTransaction, nodes: Iterable<NaiveNode>): void {
    for (const node of nodes)
      if (!this.#world.state.isLive(node) && !open.isBorn(node)) open.staged.push({ kind: 'birth', node });
  }

  /** Updates or removes an edge that the transaction sees. */
  #change(open: OpenTransaction, table: EdgeTable): void {
    const world = this.#world;
    const { random, source } = world;
    const view = open.edges(table.token);
    if (view.length === 0) return;
    const target = source.pick(random.chance(0.5) ? view.slice(0, 2) : view);
    if (random.chance(0.35)) this.#removeEdge(open, table.token, target);
    else this.#update(open, table, target);
  }

  #update(open: OpenTransaction, table: EdgeTable, target: EdgeVersion): void {
    const world = this.#world;
    const { random, source } = world;
    const made = source.edge(table);
    const keepsTime = random.chance(0.5);
    const spec: EdgeSpec = keepsTime ? { ...made, event_ts: target.event_ts } : made;
    const end = spec.properties.end_ts;
    if (typeof end === 'number' && end < spec.event_ts) return;
    const keepsMembers = random.chance(0.4);
    if (keepsMembers && [...target.members].some((node) => !this.#isFound(node) || open.dead.has(node))) return;
    const members = { members: target.members, roles: target.roles };
    const input = keepsMembers
      ? {
          event_ts: spec.event_ts,
          properties: spec.properties,
          members: [...target.members].map(({ number }) => number),
          areNumbers: true,
          ...(target.roles.length === 0 ? {} : { roles: numbersByRole(table, target) }),
        }
      : source.input(table, spec);
    const refs = keepsMembers ? [] : [...spec.members, ...spec.roles.flat()];
    const code = this.#refusal(open, table, refs);
    const key = { eventTs: target.event_ts, id: target.id };
    const what = `update ${table.name} ${key.id}@${key.eventTs} to @${spec.event_ts}`;
    const row = this.#try(open, what, code, () => open.tx.updateRow(world.tableOf(table), key, input));
    this.#hold(open, table, refs);
    if (row === undefined) return;
    const resolved = keepsMembers ? members : resolveEdge(spec, (ref) => world.resolve(ref, open));
    this.#bear(open, resolved.members);
    const edge = edgeOf(table, target.id, spec, resolved);
    open.staged.push({ kind: 'update', token: table.token, target, edge });
    world.learnMembers(row, resolved.members);
  }

  #removeEdge(open: OpenTransaction, token: object, target: EdgeVersion): void {
    const table = this.#world.state.table(token)!;
    const key = { eventTs: target.event_ts, id: target.id };
    const what = `remove ${table.name} ${key.id}@${key.eventTs}`;
    this.#try(open, what, undefined, () => {
      open.tx.deleteRow(this.#world.tableOf(table), key);
      open.staged.push({ kind: 'remove', token, target });
    });
  }

  #delete(open: OpenTransaction, table: EdgeTable): void {
    const world = this.#world;
    const { source } = world;
    const rows = world.random.chance(0.5) ? open.edges(table.token) : table.rows;
    if (rows.length === 0) return;
    const { event_ts: eventTs, members } = source.pick(rows);
    const refs = [...members];
    const found = refs.map((ref) => world.state.find(ref.kind, ref.key) ?? this.#own(open, ref));
    const isKnown = found.every((node) => node !== undefined);
    const set = new Set(found.filter((node) => node !== undefined));
    this.#try(open, `delete ${table.name} @${eventTs}`, undefined, () => {
      open.tx.delete(world.tableOf(table), eventTs, source.members(table, refs));
      open.staged.push({ kind: 'delete', token: table.token, eventTs, members: set, isKnown });
    });
  }

  #own(open: OpenTransaction, { kind, key }: Ref): NaiveNode | undefined {
    return [...open.held].find((node) => node.kind === kind && node.key === key && this.#isOwn(open, node));
  }

  // Nodes

  /** Writes, patches, inserts or deletes a node. */
  #node(open: OpenTransaction): void {
    const { random, source, state } = this.#world;
    const { kind, nodes } = source.pick(state.kinds);
    const known = nodes.length > 0 && random.chance(0.6) ? source.pick(nodes).node : undefined;
    const key = known?.key ?? source.key(kind);
    const dice = random.below(10);
    if (dice < 3) this.#deleteNode(open, kind, key);
    else if (dice < 5) this.#insertNode(open, kind, key);
    else this.#writeNode(open, kind, key, dice < 8);
  }

  /** Returns the node of a key as the transaction finds it, or why it is refused. */
  #find(open: OpenTransaction, kind: NaiveKind, key: Ref['key']): NodeVersion | 'conflict' | undefined {
    if (this.#isGone(open, { kind, key })) return 'conflict';
    const node = this.#world.state.find(kind, key) ?? this.#own(open, { kind, key });
    if (node === undefined || open.dead.has(node)) return undefined;
    return open.nodes(kind).find((version) => version.node === node) ?? 'conflict';
  }

  #findNode(open: OpenTransaction, kind: NaiveKind, key: Ref['key']): NodeVersion | 'refused' | undefined {
    const found = this.#find(open, kind, key);
    const code = found === 'conflict' ? 'conflict' : undefined;
    const what = `find ${kind.name} ${JSON.stringify(key).slice(0, 30)}`;
    const number = this.#try(open, what, code, () => open.tx.findNode(this.#tableOf(kind), key));
    if (number === undefined || found === 'conflict') return 'refused';
    if (number !== (found?.node.number ?? 0))
      throw new Error(`${what} found ${number}, not ${found?.node.number ?? 'none'}`);
    return found;
  }

  #tableOf(kind: NaiveKind): Table {
    return this.#world.db.nodes.table(this.#world.state.kind(kind)!.name);
  }

  #insertNode(open: OpenTransaction, kind: NaiveKind, key: Ref['key']): void {
    const world = this.#world;
    const table = world.state.kind(kind)!;
    const live = world.state.find(kind, key) ?? this.#own(open, { kind, key });
    const isDead = (live !== undefined && open.dead.has(live)) || this.#isGone(open, { kind, key });
    const code = isDead ? 'conflict' : live === undefined ? undefined : 'node_exists';
    const attributes = world.source.attributes(table);
    const what = `insert ${kind.name} ${JSON.stringify(key).slice(0, 30)}`;
    const properties = { [table.keyName]: key, ...attributes };
    const row = this.#try(open, what, code, () => open.tx.insertNode(this.#tableOf(kind), properties));
    if (row === undefined) return;
    const node = world.resolve({ kind, key }, open);
    world.learn(node, row.id);
    open.staged.push({ kind: 'insert node', version: versionOf(table, node, attributes) });
  }

  /** Replaces a node or, if `isPatch`, some of its attributes; creates it if there is none. */
  #writeNode(open: OpenTransaction, kind: NaiveKind, key: Ref['key'], isPatch: boolean): void {
    const found = this.#findNode(open, kind, key);
    if (found === 'refused') return;
    if (found === undefined) this.#insertNode(open, kind, key);
    else this.#changeNode(open, found, isPatch);
  }

  #changeNode(open: OpenTransaction, found: NodeVersion, isPatch: boolean): void {
    const world = this.#world;
    const { kind, key } = found.node;
    const table = world.state.kind(kind)!;
    const kept = isPatch ? nodeRows(table, [found])[0]! : undefined;
    const attributes = { ...world.source.attributes(table) };
    for (const { name } of table.columns) if (kept !== undefined) attributes[name] ??= kept[name] as string;
    const { number } = found.node;
    const edge = { event_ts: number, members: [number], properties: { [table.keyName]: key, ...attributes } };
    const at = { eventTs: number, id: number };
    const what = `write ${kind.name} ${number}`;
    const row = this.#try(open, what, undefined, () => open.tx.updateRow(this.#tableOf(kind), at, edge));
    if (row === undefined) return;
    open.staged.push({ kind: 'update node', target: found, version: versionOf(table, found.node, attributes) });
    const other = { ...edge, properties: { ...edge.properties, [table.keyName]: kind.isInteger ? 77_777 : 'other' } };
    if (world.random.chance(0.05))
      this.#try(open, `rename ${number}`, 'invalid_input', () => open.tx.updateRow(this.#tableOf(kind), at, other));
  }

  #deleteNode(open: OpenTransaction, kind: NaiveKind, key: Ref['key']): void {
    const found = this.#findNode(open, kind, key);
    if (found === 'refused' || found === undefined) return;
    const { number } = found.node;
    const code = open.isUsed(this.#world.state, found.node) ? 'node_in_use' : undefined;
    this.#try(open, `delete ${kind.name} ${number}`, code, () => {
      open.tx.deleteRow(this.#tableOf(kind), { eventTs: number, id: number });
      open.staged.push({ kind: 'delete node', target: found });
    });
  }

  // Reads

  #read(open: OpenTransaction, table: EdgeTable): void {
    const world = this.#world;
    const real = world.tableOf(table);
    // A transaction reads altered tables in vain: it cannot commit.
    if (open.base.table(table.token)?.columns !== table.columns) return;
    const rows = edgeRows(table, open.edges(table.token));
    const request = this.#reads.request(rows);
    const what = `in a transaction: ${table.name} ${JSON.stringify(request)}`;
    world.note(`tx read ${what}`);
    this.#reads.attempt(() => {
      const plan = markedPlanOf(real.columns, real.definition);
      const scan = open.tx.scan(real, { ...request, format: 'ndjson', rows: plan });
      this.#reads.compareEdges(scan, table, select(rows, request), what);
    });
    this.#readNodes(open);
    world.saw('own read');
  }

  #readNodes(open: OpenTransaction): void {
    const world = this.#world;
    const table = world.source.pick(world.state.kinds);
    const base = open.base.kind(table.kind);
    if (base === undefined || !isSameShape(base, table)) return;
    const rows = nodeRows(table, open.nodes(table.kind));
    this.#reads.attempt(() => {
      const scan = open.tx.scan(this.#tableOf(table.kind), { format: 'ndjson' });
      this.#reads.compareNodes(scan, { rows, hasMore: false }, `in a transaction: ${table.name}`);
      if (open.isPinned) this.#reads.keysAt(this.#tableOf(table.kind), base, open.tx.lsn);
    });
  }

  // Commit

  async #commit(open: OpenTransaction): Promise<void> {
    const world = this.#world;
    const { staged } = open;
    const { codes, isEither } = this.#codes(open);
    const isNeeded = (each: Staged): boolean => each.kind !== 'birth' || !world.state.isLive(each.node);
    const needed = staged.filter(isNeeded);
    const operations = needed.reduce((sum, { kind }) => sum + (kind.startsWith('update') ? 2 : 1), 0);
    const born = needed.flatMap((each) =>
      each.kind === 'birth' ? [each.node] : each.kind === 'insert node' ? [each.version.node] : [],
    );
    const died = needed.flatMap((each) => (each.kind === 'delete node' ? [each.target.node] : []));
    const plan: CommitPlan = { codes, isEither, operations, born, died, next: (state) => applied(state, needed) };
    await world.commit(`commit x${staged.length} ${codes}`, () => open.tx.commit(), plan);
    for (const { kind } of codes.length === 0 ? staged : []) world.saw(`committed: ${kind}`);
    world.release(open);
  }

  /** Returns the codes with which the commit may be refused. */
  #codes(open: OpenTransaction): { codes: string[]; isEither: boolean } {
    const { state } = this.#world;
    const codes = new Set<string>();
    let isEither = true;
    const must = (code: string): void => {
      codes.add(code);
      isEither = false;
    };
    const isGone = (node: NaiveNode): boolean => this.#world.isBorn(node) && !state.isLive(node);
    for (const each of open.staged) {
      if ('token' in each) {
        const table = state.table(each.token);
        if (table === undefined) {
          must('conflict');
          codes.add('table_not_found');
          continue;
        }
        const base = open.base.table(each.token);
        if (base !== undefined && (base.columns !== table.columns || base.name !== table.name)) codes.add('conflict');
        if (base === undefined) codes.add('conflict');
        if ('target' in each && !open.isThere(each.target, table.rows)) must('conflict');
        if ('edge' in each && [...each.edge.members].some(isGone)) must('conflict');
        continue;
      }
      const { kind, node } = nodeOf(each);
      const table = state.kind(kind);
      if (table === undefined) {
        must('conflict');
        codes.add('table_not_found');
        continue;
      }
      const base = open.base.kind(kind);
      if (base === undefined || !isSameShape(base, table)) codes.add('conflict');
      if (each.kind === 'insert node' && (state.isLive(node) || isGone(node))) must('conflict');
      if ('target' in each && !this.#isNodeThere(open, each.target, table)) must('conflict');
      if (each.kind === 'delete node' && open.isUsed(state, node)) must('node_in_use');
    }
    return { codes: [...codes], isEither };
  }

  #isNodeThere(open: OpenTransaction, target: NodeVersion, table: NodeTable): boolean {
    const { node } = target;
    const isBirth = open.staged.some((each) => each.kind === 'birth' && each.node === node);
    // A node that an edge of the transaction creates must not be created by others, if it is
    // changed.
    if (isBirth && target.values.size === 0) return !this.#world.isBorn(node);
    const isOwn = open.staged.some((each) => 'version' in each && each.version === target);
    return isOwn || table.nodes.includes(target);
  }
}
