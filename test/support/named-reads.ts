// The reads of a random history of named tables: at the newest state, at pinned snapshots, page by
// page, and of nodes in the order of their keys.

import {
  type Database,
  markedPlanOf,
  nodeNumber,
  type Scan,
  type Snapshot,
  type Table,
} from '../../src/engine/index.ts';
import type { EdgeRow } from '../../src/engine/types.ts';
import type { KindAndKey, NodeKey } from '../../src/model/node-refs.ts';
import { compareTexts } from '../../src/model/text-order.ts';
import { type NaiveRequest, select } from '../model/naive-table.ts';
import {
  type EdgeTable,
  edgeRows,
  type NaiveKind,
  type NamedState,
  type NodeTable,
  nodeRows,
  shownEdge,
  shownNode,
} from '../model/named-state.ts';
import { compareColumns, compareSums } from './column-rows.ts';
import { requestOf } from './history-requests.ts';
import type { NamedWorld } from './named-world.ts';

interface Expected {
  rows: EdgeRow[];
  hasMore: boolean;
}

/** A table at a pinned snapshot, with its state then. */
type Pinned = { real: Table; snapshot: Snapshot } & ({ edges: EdgeTable } | { nodes: NodeTable });

const AT_ONCE = 64;

export class NamedReads {
  readonly #world: NamedWorld;
  #pinned: Pinned[] = [];

  constructor(world: NamedWorld) {
    this.#world = world;
  }

  forget(): void {
    this.#pinned = [];
  }

  releaseAll(): void {
    for (const { snapshot } of this.#pinned.splice(0)) snapshot.release();
  }

  /** Runs a read, which may be refused if memory is short. */
  attempt(read: () => void): void {
    try {
      read();
    } catch (error) {
      if (!this.#world.isShortOfMemory(error)) throw error;
      this.#world.saw('a read without memory');
    }
  }

  request(rows: readonly EdgeRow[]): NaiveRequest {
    const { random, source } = this.#world;
    const request = requestOf(random, source.edges, rows);
    if (request.at !== undefined) this.#world.saw('read at a time');
    if (request.inRoles !== undefined) this.#world.saw('read by role');
    return request;
  }

  // Comparing

  /** Compares the rows of a scan of this database, or of another one. */
  compareEdges(
    scan: Scan,
    table: EdgeTable,
    { rows, hasMore }: Expected,
    what: string,
    db: Database = this.#world.db,
    nameOf = (kind: NaiveKind) => kind.name,
  ): void {
    const world = this.#world;
    const asObjects = table.kinds.length > 1 || world.random.chance(0.2);
    const shown = (number: number): NodeKey | KindAndKey => {
      const { kind, key } = world.nodeOf(number);
      return asObjects ? { kind: nameOf(kind), key } : key;
    };
    const wanted = rows.map((row) => `${JSON.stringify(shownEdge(row, shown))}\n`);
    const found = textOf(scan, (slice) => db.nodes.translate(slice, asObjects ? 'objects' : 'keys'));
    same(found, wanted.join(''), what);
    compareEnd(scan, { rows, hasMore }, what);
  }

  compareNodes(scan: Scan, { rows, hasMore }: Expected, what: string): void {
    const wanted = rows.map((row) => `${JSON.stringify(shownNode(row))}\n`);
    same(
      textOf(scan, (slice) => slice),
      wanted.join(''),
      what,
    );
    compareEnd(scan, { rows, hasMore }, what);
  }

  /** Compares everything that readers see, in this database or in another one. */
  all(state = this.#world.visible(), db = this.#world.db): void {
    const found = [...db.tables().map(({ name }) => name), ...db.nodes.tables().map(({ name }) => name)];
    const wanted = ['hyperedges', ...[...state.tables, ...state.kinds].map(({ name }) => name)];
    same(found.sort().join(), wanted.sort().join(), 'names of tables');
    for (const table of state.tables) this.#everyEdge(db, table, state);
    for (const table of state.kinds) this.#everyNode(db.nodes.table(table.name), table);
  }

  #everyEdge(db: Database, table: EdgeTable, state: NamedState): void {
    const real = db.table(table.name);
    if (real.corrupt !== null) throw real.corrupt;
    const rows = edgeRows(table);
    const scan = real.scan({ format: 'ndjson', rows: markedPlanOf(real.columns, real.definition) });
    this.compareEdges(
      scan,
      table,
      { rows, hasMore: false },
      `all of ${table.name}`,
      db,
      (kind) => state.kind(kind)!.name,
    );
    if (real.rowCount !== rows.length) throw new Error(`${table.name} counts ${real.rowCount}, not ${rows.length}`);
    const { nodes, roles, intervals, create_nodes } = real.item();
    const item = { nodes, roles, intervals, create_nodes };
    const wanted = {
      nodes: 'named',
      roles: table.roles,
      intervals: table.intervals,
      create_nodes: table.createNodes,
    };
    same(JSON.stringify(item), JSON.stringify(wanted), `item of ${table.name}`);
  }

  #everyNode(real: Table, table: NodeTable): void {
    if (real.corrupt !== null) throw real.corrupt;
    const rows = nodeRows(table, table.nodes);
    this.compareNodes(real.scan({ format: 'ndjson' }), { rows, hasMore: false }, `all of ${table.name}`);
    if (real.rowCount !== rows.length) throw new Error(`${table.name} counts ${real.rowCount}, not ${rows.length}`);
  }

  /** Reads some rows of some table. */
  some(): void {
    const state = this.#world.visible();
    const { random, source } = this.#world;
    this.attempt(() => {
      if (state.tables.length > 0 && random.chance(0.7)) this.#someEdges(source.pick(state.tables));
      else if (state.kinds.length > 0) this.#someNodes(source.pick(state.kinds));
    });
  }

  #someEdges(table: EdgeTable): void {
    const world = this.#world;
    const real = world.tableOf(table);
    const rows = edgeRows(table);
    const request = this.request(rows);
    const what = `${table.name} ${JSON.stringify(request)}`;
    world.note(`read ${what}`);
    const plan = markedPlanOf(real.columns, real.definition);
    const scan = real.scan({ ...request, format: 'ndjson', rows: plan });
    this.compareEdges(scan, table, select(rows, request), what);
    world.saw('read');
  }

  #someNodes(table: NodeTable): void {
    const world = this.#world;
    const real = world.db.nodes.table(table.name);
    const rows = nodeRows(table, table.nodes);
    const request = this.request(rows);
    const what = `${table.name} ${JSON.stringify(request)}`;
    world.note(`read ${what}`);
    this.compareNodes(real.scan({ ...request, format: 'ndjson' }), select(rows, request), what);
    world.saw('read of nodes');
  }

  /** Compares which keys the newest state has. */
  keys(): void {
    const world = this.#world;
    if (world.db.headLsn !== world.headLsn) return;
    for (const { kind, name, nodes } of world.state.kinds) {
      const real = world.db.nodes.table(name);
      for (const { node } of nodes) world.learn(node, world.db.nodes.find(real, node.key));
      for (let count = 0; count < 5; count++) {
        const key = world.source.key(kind);
        const wanted = nodes.find(({ node }) => node.key === key)?.node.number ?? 0;
        const found = world.db.nodes.find(real, key);
        if (found !== wanted) throw new Error(`${name} ${JSON.stringify(key)} is ${found}, not ${wanted}`);
      }
    }
    const { nodes } = world.db.figures();
    if (world.db.lastLsn === world.headLsn && nodes !== world.state.nodes().length)
      throw new Error(`${nodes} nodes are counted, not ${world.state.nodes().length}`);
    world.saw('keys');
  }

  /** Compares the nodes that keys had in the state at an LSN, at which there is a snapshot. */
  keysAt(real: Table, { name, nodes }: NodeTable, lsn: number): void {
    for (let count = 0; count < 5 && nodes.length > 0; count++) {
      const { node } = this.#world.source.pick(nodes);
      const found = nodeNumber(real, node.key, lsn);
      if (found !== node.number)
        throw new Error(`${name} ${JSON.stringify(node.key)} was ${node.number} at LSN ${lsn}, not ${found}`);
      if (!this.#world.state.isLive(node)) this.#world.saw('a key that is gone');
    }
  }

  // Snapshots

  pin(): void {
    if (this.#pinned.length > 8) return;
    const world = this.#world;
    const state = world.visible();
    this.attempt(() => {
      for (const edges of state.tables) {
        const real = world.tableOf(edges);
        this.#pinned.push({ real, snapshot: world.db.snapshot(real), edges });
      }
      for (const nodes of state.kinds) {
        const real = world.db.nodes.table(nodes.name);
        this.#pinned.push({ real, snapshot: world.db.snapshot(real), nodes });
      }
    });
    world.note(`pin at ${world.db.lastLsn}`);
  }

  readPinned(): void {
    if (this.#pinned.length === 0) return;
    const world = this.#world;
    const pinned = world.source.pick(this.#pinned);
    const { real, snapshot } = pinned;
    const all = 'edges' in pinned ? edgeRows(pinned.edges) : nodeRows(pinned.nodes, pinned.nodes.nodes);
    const request = world.random.chance(0.3) ? {} : this.request(all);
    const wanted = select(all, request);
    const what = `pinned ${real.name} at ${snapshot.lsn} ${JSON.stringify(request)}`;
    world.note(`read ${what}`);
    this.attempt(() => {
      if ('nodes' in pinned) {
        this.keysAt(real, pinned.nodes, snapshot.lsn);
        const scan = real.scan({ ...request, format: 'ndjson', rows: snapshot.rowPlan }, snapshot);
        return this.compareNodes(scan, wanted, what);
      }
      const rows = markedPlanOf(snapshot.columns, real.definition);
      const scan = real.scan({ ...request, format: 'ndjson', rows }, snapshot);
      this.compareEdges(scan, pinned.edges, wanted, what);
      compareSums(real, all, request, snapshot, undefined);
      if (world.state.table(pinned.edges.token)?.columns !== pinned.edges.columns) return;
      compareColumns(real, wanted.rows, (asked) => real.scan({ ...request, ...asked }, snapshot), what);
    });
    world.saw('pinned read');
  }

  release(): void {
    if (this.#pinned.length === 0) return;
    const [pinned] = this.#pinned.splice(this.#world.random.below(this.#pinned.length), 1);
    pinned!.snapshot.release();
  }

  /** Lists the nodes of a table in the order of their keys, as of now. */
  async list(): Promise<void> {
    const world = this.#world;
    const state: NamedState = world.visible();
    if (state.kinds.length === 0) return;
    const table = world.source.pick(state.kinds);
    const real = world.db.nodes.table(table.name);
    const snapshot = world.db.snapshot(real);
    try {
      const order = await world.wait(world.db.nodes.order(real));
      const texts: string[] = [];
      for (let from = 0; from < order.numbers.length; from += AT_ONCE)
        for (const text of world.db.nodes.texts(real, snapshot, order.numbers.subarray(from, from + AT_ONCE)))
          if (text !== undefined) texts.push(text);
      order.release();
      const ordered = nodeRows(table, table.nodes).sort((a, b) =>
        table.kind.isInteger
          ? (a[table.keyName] as number) - (b[table.keyName] as number)
          : compareTexts(a[table.keyName] as string, b[table.keyName] as string),
      );
      const wanted = ordered.map((row) => JSON.stringify(shownNode(row)));
      same(texts.join('\n'), wanted.join('\n'), `list of ${table.name}`);
      world.saw('list');
    } catch (error) {
      if (!world.isShortOfMemory(error)) throw error;
    } finally {
      if (!world.fs.stopped) snapshot.release();
    }
  }

  /** Reads a table page by page with a limit and a cursor, at one snapshot. */
  pages(): void {
    const world = this.#world;
    const state = world.visible();
    if (state.tables.length === 0) return;
    const table = world.source.pick(state.tables);
    this.attempt(() => {
      const real = world.tableOf(table);
      const snapshot = world.db.snapshot(real);
      const rows = edgeRows(table);
      const { after: _, ...request } = this.request(rows);
      const limit = 1 + world.random.below(7);
      const plan = markedPlanOf(real.columns, real.definition);
      let after: NaiveRequest['after'];
      for (let page = 0; page < 30; page++) {
        const asked = { ...request, limit, after };
        const scan = real.scan({ ...asked, format: 'ndjson', rows: plan }, snapshot);
        this.compareEdges(scan, table, select(rows, asked), `page ${page} of ${table.name}`);
        if (!scan.hasMore) break;
        after = scan.lastKey;
      }
      snapshot.release();
      world.saw('pages');
    });
  }
}

function textOf(scan: Scan, shown: (slice: Uint8Array) => Uint8Array): string {
  const slices: Buffer[] = [];
  for (let slice = scan.next(); slice !== null; slice = scan.next()) slices.push(Buffer.from(shown(slice)));
  return Buffer.concat(slices).toString();
}

function compareEnd(scan: Scan, { rows, hasMore }: Expected, what: string): void {
  if (scan.rows !== rows.length) throw new Error(`${what}: ${scan.rows} rows were counted, not ${rows.length}`);
  if (scan.hasMore !== hasMore) throw new Error(`${what}: hasMore is ${scan.hasMore}`);
}

function same(found: string, wanted: string, what: string): void {
  if (found === wanted) return;
  let at = 0;
  while (at < found.length && found[at] === wanted[at]) at++;
  const from = Math.max(0, at - 200);
  throw new Error(`${what}: at ${at}\n got ${found.slice(from, at + 300)}\nwant ${wanted.slice(from, at + 300)}`);
}
