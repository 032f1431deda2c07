// Looks up names of nodes. In a named table the members are keys of nodes, which need no lookup. In
// a table of numbers, imports of earlier versions stored names beside the table, in TABLE_nodes
// with the column `vertex`.

import { HedgerowApiError, type HedgerowClient, type Table } from '../../client/index.ts';
import { refusal } from '../../errors.ts';
import { kindOfType } from '../../model/column-types.ts';
import { NAME_COLUMN, NODES_SUFFIX } from '../import/targets/target.ts';

/** Number of nodes per statement; the planner can combine that many lookups in the node index. */
const NODES_A_STATEMENT = 200;
/** Maximum number of nodes in an answer for which names are looked up. */
export const MOST_NAMED = 1000;

/** A node as tools accept it: its key in a named table, else its number or its stored name. */
export type GivenNode = number | string;

/** The names of one table's nodes. */
export class NodeNames {
  /**
   * The table with the names; undefined when there is none. `of` is the table whose nodes have
   * these names.
   */
  readonly table: string | undefined;
  readonly of: string;
  /** The node tables of a named table; undefined if members are numbers. */
  readonly kinds: readonly string[] | undefined;
  readonly #client: HedgerowClient;
  readonly #signal: AbortSignal;

  private constructor(
    client: HedgerowClient,
    { of, table, kinds }: Pick<NodeNames, 'of' | 'table' | 'kinds'>,
    signal: AbortSignal,
  ) {
    this.#client = client;
    this.of = of;
    this.table = table;
    this.kinds = kinds;
    this.#signal = signal;
  }

  /**
   * Opens the names of a table; without `name`, those of the primary table. If the table does not
   * exist, it has no names, and the next request reports that it is missing.
   */
  static async open(client: HedgerowClient, name: string | undefined, signal: AbortSignal): Promise<NodeNames> {
    const item = await tableNamed(client, name, signal);
    const of = item?.name ?? name!;
    if (item?.nodes === 'named')
      return new NodeNames(client, { of, table: undefined, kinds: item.member_tables }, signal);
    // This takes at most two requests, however many tables there are.
    return new NodeNames(client, { of, table: await namesTable(client, of, signal), kinds: undefined }, signal);
  }

  /**
   * Returns the number of a node, or its key in a named table. In a table of numbers, takes an
   * unknown name that is an integer as a number. For any other unknown name throws
   * `invalid_input`, which explains where names are stored.
   */
  async nodeOf(node: GivenNode): Promise<GivenNode> {
    return (await this.nodesOf([node]))[0]!;
  }

  async nodesOf(nodes: readonly GivenNode[]): Promise<GivenNode[]> {
    if (this.kinds !== undefined) return [...nodes];
    const names = [...new Set(nodes.filter((node) => typeof node === 'string'))];
    const numbers = new Map<string, number>();
    for (const name of names) {
      const number = (await this.#find(name)) ?? (/^-?\d{1,16}$/.test(name) ? Number(name) : undefined);
      if (number === undefined) throw refusal('invalid_input', this.#unknown(name));
      numbers.set(name, number);
    }
    return nodes.map((node) => (typeof node === 'string' ? numbers.get(node)! : node));
  }

  /**
   * Returns the names of the first `MOST_NAMED` nodes by number; leaves out nodes without a name.
   */
  async namesOf(nodes: Iterable<unknown>): Promise<ReadonlyMap<number, string>> {
    const names = new Map<number, string>();
    if (this.table === undefined) return names;
    const numbers = [...nodes].filter((node): node is number => typeof node === 'number');
    const asked = [...new Set(numbers)].slice(0, MOST_NAMED);
    for (let at = 0; at < asked.length; at += NODES_A_STATEMENT) {
      const some = asked.slice(at, at + NODES_A_STATEMENT);
      const parameters = Object.fromEntries(some.map((node, place) => [`n${place}`, node]));
      const condition = some.map((_, place) => `$n${place} IN n.members`).join(' OR ');
      const statement = `MATCH (n:\`${this.table}\`) WHERE ${condition} RETURN n.members AS members, n.${NAME_COLUMN} AS name`;
      const { rows } = await this.#client.query.run(statement, parameters, { signal: this.#signal });
      for (const { members, name } of rows as { members: number[]; name: string | null }[])
        for (const node of members) if (name !== null) names.set(node, name);
    }
    return names;
  }

  async #find(name: string): Promise<number | undefined> {
    if (this.table === undefined) return undefined;
    const statement = `MATCH (n:\`${this.table}\`) WHERE n.${NAME_COLUMN} = $name RETURN n.members AS members LIMIT 1`;
    const { rows } = await this.#client.query.run(statement, { name }, { signal: this.#signal });
    return (rows[0] as { members: number[] } | undefined)?.members[0];
  }

  #unknown(name: string): string {
    const shown = JSON.stringify(name.slice(0, 100));
    if (this.table === undefined)
      return `${shown} is not a number, and no names of the nodes of ${this.of} are stored (they would be in ${this.of}${NODES_SUFFIX}, column ${NAME_COLUMN}). Give the number of the node.`;
    return `No node of ${this.of} is called ${shown}. The names are in ${this.table}, column ${NAME_COLUMN}, as they were imported: MATCH (n:${this.table}) WHERE n.${NAME_COLUMN} CONTAINS 'part' RETURN n.${NAME_COLUMN}, n.members LIMIT 20.`;
  }
}

/** Returns the table, or the primary one without a name; undefined if there is no such table. */
async function tableNamed(
  client: HedgerowClient,
  name: string | undefined,
  signal: AbortSignal,
): Promise<Table | undefined> {
  if (name === undefined) return (await client.tables.list({ signal })).find(({ primary }) => primary);
  try {
    return await client.tables.get(name, { signal });
  } catch (error) {
    if (error instanceof HedgerowApiError && error.code === 'table_not_found') return undefined;
    throw error;
  }
}

async function namesTable(client: HedgerowClient, of: string, signal: AbortSignal): Promise<string | undefined> {
  if (of.toLowerCase().endsWith(NODES_SUFFIX)) return undefined;
  try {
    const table = await client.tables.get(`${of}${NODES_SUFFIX}`, { signal });
    return holdsNames(table) ? table.name : undefined;
  } catch (error) {
    if (error instanceof HedgerowApiError && error.code === 'table_not_found') return undefined;
    throw error;
  }
}

/** Returns whether the rows of a table are nodes with their names. */
export function holdsNames({ columns }: Pick<Table, 'columns'>): boolean {
  return columns.some(({ name, type }) => name.toLowerCase() === NAME_COLUMN && kindOfType(type) === 'text');
}
