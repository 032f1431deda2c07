// The single and bulk writes of a random history of named tables.

import type { EdgeRow } from '../../src/engine/types.ts';
import type { BulkInsert } from '../../src/engine/write/bulk-insert.ts';
import {
  allColumns,
  type EdgeTable,
  type EdgeVersion,
  type NaiveNode,
  type NamedState,
  valuesOf,
} from '../model/named-state.ts';
import type { CommitPlan, Holder } from './named-plan.ts';
import type { EdgeSpec, Ref } from './named-source.ts';
import type { NamedWorld } from './named-world.ts';

/** The members of an edge as nodes, those that a writer would create included. */
export interface ResolvedEdge {
  readonly members: ReadonlySet<NaiveNode>;
  readonly roles: readonly ReadonlySet<NaiveNode>[];
}

export function resolveEdge({ members, roles }: EdgeSpec, resolve: (ref: Ref) => NaiveNode): ResolvedEdge {
  const lists = roles.map((list) => new Set(list.map(resolve)));
  return { members: new Set([...members.map(resolve), ...lists.flatMap((list) => [...list])]), roles: lists };
}

/** Returns the edge that an insert stores. */
export function edgeOf(
  table: EdgeTable,
  id: number,
  { event_ts, properties }: Pick<EdgeSpec, 'event_ts' | 'properties'>,
  { members, roles }: ResolvedEdge,
): EdgeVersion {
  return { id, event_ts, members, roles, values: valuesOf(allColumns(table), properties) };
}

/** Returns the state with new nodes, which have the defaults. */
export function withBorn(state: NamedState, born: readonly NaiveNode[]): NamedState {
  let next = state;
  for (const node of born) {
    const table = next.kind(node.kind)!;
    next = next.withKind({ ...table, nodes: [...table.nodes, { node, values: new Map() }] });
  }
  return next;
}

export function withRows(
  state: NamedState,
  token: object,
  change: (rows: readonly EdgeVersion[]) => EdgeVersion[],
): NamedState {
  const table = state.table(token)!;
  return state.withTable({ ...table, rows: change(table.rows) });
}

export function isEdge(edge: EdgeVersion, eventTs: number, members: ReadonlySet<NaiveNode>): boolean {
  return (
    edge.event_ts === eventTs &&
    edge.members.size === members.size &&
    [...members].every((member) => edge.members.has(member))
  );
}

interface OpenBulk extends Holder {
  readonly bulk: BulkInsert;
  readonly table: EdgeTable;
  readonly edges: { readonly spec: EdgeSpec; readonly resolved: ResolvedEdge }[];
}

export class NamedWrites {
  readonly #world: NamedWorld;
  #bulks: OpenBulk[] = [];

  constructor(world: NamedWorld) {
    this.#world = world;
  }

  forget(): void {
    this.#bulks = [];
  }

  discardAll(): void {
    for (const open of this.#bulks.splice(0)) {
      open.bulk.discard();
      this.#world.release(open);
    }
  }

  async insert(): Promise<void> {
    const world = this.#world;
    const table = world.anyTable();
    if (table === undefined) return;
    if (world.random.chance(0.08)) return this.#refusals(table);
    const spec = world.source.edge(table);
    const holder: Holder = { held: new Set() };
    const resolved = resolveEdge(spec, (ref) => world.resolve(ref, holder));
    const born = bornOf(world.state, resolved.members);
    const real = world.tableOf(table);
    const id = real.nextId;
    const isUnknown = !table.createNodes && born.length > 0;
    const plan: CommitPlan = {
      codes: isUnknown ? ['unknown_node'] : [],
      operations: 1 + born.length,
      born,
      next: (state) =>
        withRows(withBorn(state, born), table.token, (rows) => [...rows, edgeOf(table, id, spec, resolved)]),
    };
    const what = `insert ${table.name} ${id}@${spec.event_ts} ${born.length} born`;
    const answer = await world.commit(what, () => real.insert(world.source.input(table, spec)), plan);
    if (answer !== undefined) {
      if (answer.row.id !== id) throw new Error(`an insert got the id ${answer.row.id}, not ${id}`);
      world.learnMembers(answer.row, resolved.members);
      world.saw(born.length > 0 ? 'insert that creates nodes' : 'insert of known nodes');
    }
    world.release(holder);
  }

  /** Tries wrong keys and kinds. */
  async #refusals(table: EdgeTable): Promise<void> {
    const { source, db } = this.#world;
    const kind = source.pick(table.kinds);
    const key = source.badKey(kind);
    const bad = table.kinds.length > 1 ? { kind: kind.name, key } : key;
    const lsn = db.headLsn;
    for (const members of [[bad], [source.members(table, [source.ref(table)])[0], bad], [{ kind: 'nobody', key: 1 }]]) {
      const answer = this.#world.tableOf(table).insert({ event_ts: 1, members: members as string[] });
      const code = await this.#world.wait(
        answer.then(
          () => 'nothing',
          (error: { code?: string }) => error.code,
        ),
      );
      if (code !== 'invalid_input') throw new Error(`${JSON.stringify(members)} was refused with ${code}`);
    }
    if (db.headLsn !== lsn) throw new Error('a refused insert was logged');
    this.#world.saw('bad keys');
  }

  /** Starts inserts at once, of which some may wait for the log. */
  async volley(): Promise<void> {
    const world = this.#world;
    const { random, source } = world;
    const tables = world.state.tables.filter(({ createNodes }) => createNodes);
    if (tables.length === 0) return;
    const holder: Holder = { held: new Set() };
    const commits = Array.from({ length: 2 + random.below(4) }, () => {
      const table = source.pick(tables);
      const spec = source.edge(table);
      const resolved = resolveEdge(spec, (ref) => world.resolve(ref, holder));
      const input = source.input(table, spec);
      let row: EdgeRow | undefined;
      const start = async () => {
        const answer = await world.tableOf(table).insert(input);
        row = answer.row;
        return answer;
      };
      const planOf = (): CommitPlan => {
        const born = bornOf(world.state, resolved.members);
        world.learnMembers(row!, resolved.members);
        const edge = edgeOf(table, row!.id, spec, resolved);
        const next = (state: NamedState) => withRows(withBorn(state, born), table.token, (rows) => [...rows, edge]);
        return { codes: [], operations: 1 + born.length, born, next };
      };
      return { start, planOf };
    });
    await world.volley(commits);
    world.release(holder);
  }

  /** Begins a bulk insert, adds to one, or commits one. */
  async bulk(): Promise<void> {
    const world = this.#world;
    const { random, source } = world;
    if (this.#bulks.length === 0 || (this.#bulks.length < 2 && random.chance(0.3))) {
      const table = world.anyTable();
      if (table === undefined) return;
      this.#begin(table);
    }
    if (this.#bulks.length === 0) return;
    const open = source.pick(this.#bulks);
    if (world.state.table(open.table.token) === undefined) return this.#end(open, () => open.bulk.discard());
    if (random.chance(0.5)) this.#addLines(open);
    else for (let count = 1 + random.below(6); count > 0; count--) this.#add(open, source.edge(open.table));
    if (random.chance(0.3)) return;
    if (random.chance(0.1) || open.edges.length === 0) return this.#end(open, () => open.bulk.discard());
    await this.#commit(open);
  }

  #begin(table: EdgeTable): void {
    const world = this.#world;
    try {
      const open: OpenBulk = { bulk: world.tableOf(table).bulk(), table, held: new Set(), edges: [] };
      world.holders.add(open);
      this.#bulks.push(open);
    } catch (error) {
      world.excuse(error);
    }
  }

  #end(open: OpenBulk, end: () => void): void {
    end();
    this.#bulks = this.#bulks.filter((other) => other !== open);
    this.#world.release(open);
  }

  #add(open: OpenBulk, spec: EdgeSpec): void {
    const world = this.#world;
    const { table, bulk } = open;
    const isUnknown = !table.createNodes && refsOf(spec).some(({ kind, key }) => !world.state.find(kind, key));
    try {
      bulk.add(world.source.input(table, spec));
    } catch (error) {
      if (isUnknown && (error as { code?: string }).code === 'unknown_node') return;
      if (isShapeError(error) && world.state.table(table.token)!.columns !== table.columns) return;
      if (!world.isShortOfMemory(error)) throw error;
      return;
    }
    if (isUnknown) throw new Error('a bulk insert took an unknown node');
    open.edges.push({ spec, resolved: resolveEdge(spec, (ref) => world.resolve(ref, open)) });
  }

  /** Adds lines, which the core reads as far as it can. */
  #addLines(open: OpenBulk): void {
    const world = this.#world;
    const { table, bulk } = open;
    const specs = Array.from({ length: 1 + world.random.below(6) }, () => world.source.edge(table));
    const lines = specs.map((spec) => world.source.line(table, spec));
    let read = 0;
    try {
      read = bulk.addLines(Buffer.from(lines.join(''))).rows;
    } catch (error) {
      if (!world.isShortOfMemory(error)) throw error;
    }
    for (const [place, spec] of specs.entries()) {
      if (place >= read) this.#add(open, spec);
      else open.edges.push({ spec: plain(spec), resolved: resolveEdge(spec, (ref) => world.resolve(ref, open)) });
    }
    if (read > 0) world.saw('lines that the core reads');
  }

  async #commit(open: OpenBulk): Promise<void> {
    const world = this.#world;
    const { bulk, edges, table } = open;
    const taken = new Set(edges.flatMap(({ resolved }) => [...resolved.members]));
    const isTakenAway = [...taken].some((node) => world.isBorn(node) && !world.state.isLive(node));
    const born = bornOf(world.state, taken);
    const real = world.tableOf(world.state.table(table.token)!);
    const firstId = real.nextId;
    const isAltered = world.state.table(table.token)!.columns !== table.columns;
    const plan: CommitPlan = {
      codes: isTakenAway ? ['conflict'] : [],
      isEither: false,
      operations: edges.length + born.length,
      born,
      next: (state) => {
        const rows = edges.map(({ spec, resolved }, place) => edgeOf(table, firstId + place, spec, resolved));
        return withRows(withBorn(state, born), table.token, (known) => [...known, ...rows]);
      },
    };
    const answer = await world.commit(`bulk ${table.name} x${edges.length}`, () => bulk.commit(), plan);
    if (answer !== undefined) {
      if (answer.inserted !== edges.length || answer.firstId !== firstId)
        throw new Error(`a bulk insert answered ${JSON.stringify(answer)}`);
      world.saw(isAltered ? 'bulk insert into an altered table' : 'bulk insert');
    }
    this.#end(open, () => undefined);
  }

  async delete(): Promise<void> {
    const world = this.#world;
    const { random, source } = world;
    const table = world.anyTable();
    if (table === undefined) return;
    const edge = table.rows.length === 0 ? undefined : source.pick(table.rows);
    const isLive = edge !== undefined && random.chance(0.85);
    const refs = isLive ? [...edge.members] : [source.ref(table), source.ref(table)];
    const eventTs = isLive ? edge.event_ts : source.edges.time();
    const members = refs.map(({ kind, key }) => world.state.find(kind, key));
    const set = new Set(members.filter((node) => node !== undefined));
    const isKnown = members.every((node) => node !== undefined);
    const dead = table.rows.filter((each) => isKnown && isEdge(each, eventTs, set));
    const plan: CommitPlan = {
      codes: [],
      operations: 1,
      born: [],
      next: (state) => withRows(state, table.token, (rows) => rows.filter((each) => !dead.includes(each))),
    };
    const given = source.members(table, random.chance(0.3) ? [...refs, refs[0]!].reverse() : refs);
    const what = `delete ${table.name} @${eventTs}`;
    const answer = await world.commit(what, () => world.tableOf(table).delete(eventTs, given), plan);
    if (answer !== undefined && answer.matched !== dead.length)
      throw new Error(`${what} matched ${answer.matched}, not ${dead.length}`);
  }
}

/** Returns the nodes that do not exist yet. */
export function bornOf(state: NamedState, nodes: Iterable<NaiveNode>): NaiveNode[] {
  return [...nodes].filter((node) => !state.isLive(node));
}

function refsOf({ members, roles }: EdgeSpec): Ref[] {
  return [...members, ...roles.flat()];
}

/** Returns the edge of a line, in which a property that is null is left out. */
function plain(spec: EdgeSpec): EdgeSpec {
  const given = Object.entries(spec.properties).filter(([, value]) => value !== null);
  return { ...spec, properties: Object.fromEntries(given) };
}

function isShapeError(error: unknown): boolean {
  return ['unknown_column', 'invalid_input'].includes((error as { code?: string }).code ?? '');
}
