// `hedgerow import --dry-run`: reports what an import would do, and changes nothing.

import type { MemberKind } from '../../model/node-refs.ts';
import { printable } from '../table-text.ts';
import type { World } from '../world.ts';
import type { Input } from './inputs.ts';
import { type Look, lookAt } from './look.ts';
import { chosenKind, nodeTableName, wantedNodes } from './nodes/wanted-nodes.ts';
import { type ImportFlags, onErrorOf } from './options.ts';
import type { PlannedInput } from './planned-input.ts';
import { namesRefused } from './prepare.ts';
import { type TriedRows, tryNodes, tryRows } from './rows/try-rows.ts';
import {
  columnsOfItem,
  type NewNodeTable,
  NODES_SUFFIX,
  type TableColumn,
  type TargetTable,
} from './targets/target.ts';
import { wantedTable } from './wanted-table.ts';

/** Resolves with the exit code: 0, or 1 when the import would fail. */
export async function dryRun(inputs: readonly Input[], flags: ImportFlags, world: World): Promise<number> {
  const report = new Report(await lookAt(flags, world), inputs, flags);
  await report.write();
  world.stdout.write(`${report.lines.map(printable).join('\n')}\nNothing was written.\n`);
  for (const failure of report.failures) world.stderr.write(`hedgerow: ${printable(failure)}\n`);
  return report.fails || report.failures.length > 0 ? 1 : 0;
}

class Report {
  readonly lines: string[] = [];
  readonly failures: string[] = [];
  fails = false;
  readonly #look: Look;
  readonly #inputs: readonly Input[];
  readonly #flags: ImportFlags;
  readonly #wanted: string;
  /** The table as an import would create it. */
  readonly #new: TargetTable;

  constructor(look: Look, inputs: readonly Input[], flags: ImportFlags) {
    this.#look = look;
    this.#inputs = inputs;
    this.#flags = flags;
    this.#wanted = flags.table ?? look.table?.name ?? 'the primary table';
    this.#new = wantedTable(inputs, flags);
  }

  async write(): Promise<void> {
    const edges = this.#inputs.filter(({ holds }) => holds === 'edges');
    const nodes = this.#inputs.filter(({ holds, format }) => holds === 'nodes' && format !== 'hif');
    const inside = this.#inputs.filter(({ holds, format }) => holds === 'nodes' && format === 'hif');
    if (edges.length > 0) this.#writeTable();
    const tables = edges.length > 0 ? this.#nodeTables(edges, nodes) : [];
    for (const table of tables) this.#writeNodeTable(table);
    const kinds = tables.length === 0 ? undefined : tables.map((table) => this.#kindOf(table));
    await this.#writeNodes([...nodes, ...(kinds === undefined ? [] : inside)], kinds, edges.length > 0);
    await this.#writeEdges(edges, kinds);
  }

  #writeTable(): void {
    const { table, place } = this.#look;
    const creates = this.#flags.create === true || this.#flags.createTable === true;
    if (table !== undefined) this.lines.push(`table: ${table.name} at ${place}, ${table.row_count} rows`);
    else if (creates || this.#flags.table === undefined)
      this.lines.push(`table: ${this.#wanted} at ${place}, will be made`);
    else {
      this.lines.push(`table: there is no ${this.#wanted} at ${place}; --create makes it`);
      this.fails = true;
    }
    if (table !== undefined) return;
    const { roles, intervals } = this.#new;
    if (roles.length > 0) this.lines.push(`  with the roles ${roles.join(', ')}`);
    if (intervals) this.lines.push('  with intervals');
  }

  /** Returns the node tables of the table; none if its members are numbers. */
  #nodeTables(edges: readonly Input[], nodes: readonly Input[]): readonly NewNodeTable[] {
    const { table } = this.#look;
    if (table?.nodes === 'named')
      return table.member_tables.map((name) => this.#known(name) ?? { name, key: { name: 'name', type: 'TEXT' } });
    // Without a table of that name the primary table is made, which holds numbers.
    return table !== undefined || this.#flags.table === undefined
      ? []
      : wantedNodes(edges, nodes, this.#new.roles, this.#flags);
  }

  #known(name: string) {
    return this.#look.nodeTables.find((table) => isSame(table.name, name));
  }

  #kindOf({ name, key }: NewNodeTable): MemberKind {
    return { name, isInteger: (this.#known(name)?.key ?? key).type === 'INTEGER' };
  }

  #writeNodeTable({ name, key }: NewNodeTable): void {
    const known = this.#known(name);
    this.lines.push(
      known === undefined
        ? `node table: ${name}, key ${key.name} ${key.type}, will be made`
        : `node table: ${known.name}, key ${known.key.name} ${known.key.type}, ${known.row_count} nodes`,
    );
  }

  async #writeNodes(inputs: readonly Input[], kinds: readonly MemberKind[] | undefined, hasEdges: boolean) {
    if (inputs.length === 0) return;
    const name = hasEdges ? chosenKind({ tableName: this.#wanted, kinds }, this.#flags) : nodeTableName(this.#flags)!;
    const known = this.#known(name);
    const columns: TableColumn[] = known === undefined ? [] : [known.key, ...known.columns];
    for (const input of inputs) {
      const plan = input.looked.plan(columns);
      const [key = plan.key!] = columns;
      if (!hasEdges) this.#writeNodeTable({ name, key: key as NewNodeTable['key'] });
      if (!hasEdges && known === undefined && this.#flags.create !== true) {
        this.lines.push(`there is no node table ${name} at ${this.#look.place}; --create makes it`);
        this.fails = true;
      }
      if (columns.length === 0) columns.push(key);
      const missing = plan.columns.filter((column) => !isKnown(columns, column.name));
      this.#writeInput(input, plan, await tryNodes(plan), missing, []);
      columns.push(...missing);
    }
  }

  async #writeEdges(inputs: readonly Input[], kinds: readonly MemberKind[] | undefined) {
    const { table } = this.#look;
    // Older servers do not say whether a table has intervals or roles; it then has none.
    const { roles = [], intervals = false } = table ?? this.#new;
    const known = [...columnsOfItem({ columns: table?.columns ?? [], intervals })];
    for (const input of inputs) {
      const plan = input.looked.plan(known, roles, kinds !== undefined);
      const missing = plan.columns.filter(({ name }) => !isKnown(known, name));
      const columns = [...known, ...missing].filter(({ isEnd }) => !isEnd);
      const tried = await tryRows(plan, { columns, kinds, roles, intervals });
      const isNumbered = plan.named && kinds === undefined && input.format !== 'ndjson';
      const notes =
        isNumbered && this.#look.hasCompanion
          ? [`numbers of names: table ${this.#wanted}${NODES_SUFFIX}, column vertex`]
          : [];
      this.#writeInput(input, plan, tried, missing, notes);
      if (isNumbered && !this.#look.hasCompanion) {
        this.lines.push(namesRefused(this.#wanted, input.source.label));
        this.fails = true;
      }
      known.push(...missing);
    }
  }

  #writeInput(
    input: Input,
    plan: PlannedInput,
    tried: TriedRows,
    missing: readonly TableColumn[],
    notes: readonly string[],
  ): void {
    const { create } = this.#flags;
    this.lines.push(`${input.source.label}: ${input.format}`, ...inputLines(plan, tried, notes));
    this.lines.push(...missing.map((column) => `  ${missingText(column, input, create === true)}`));
    if (missing.length > 0 && create !== true && !passesColumns(input)) this.fails = true;
    const failure = failureText(input, tried, onErrorOf(this.#flags));
    if (failure !== undefined) this.failures.push(failure);
    const first = plan.firstEdges();
    if (first.length > 0) this.lines.push(`  first ${input.holds}:`, ...first.map((each) => `    ${each}`));
  }
}

function inputLines(plan: PlannedInput, { count, bad, firstBad }: TriedRows, notes: readonly string[]): string[] {
  const badText =
    firstBad === undefined
      ? []
      : [`bad rows: ${bad === count ? `all ${count}` : `${bad} of the first ${count}`}, from line ${firstBad.line} on`];
  return [
    ...badText,
    // The notes describe rows; when no row can be read, there is nothing to describe.
    ...(bad > 0 && plan.firstEdges().length === 0 ? [] : plan.notes),
    ...plan.warnings.map((warning) => `warning: ${warning}`),
    ...notes,
  ].map((line) => `  ${line}`);
}

/** In NDJSON with edges, a key without a column is not an error. */
function passesColumns({ format, holds }: Input): boolean {
  return format === 'ndjson' && holds === 'edges';
}

function missingText({ name, type }: TableColumn, input: Input, creates: boolean): string {
  if (creates) return `will be made: column ${name} ${type}`;
  if (passesColumns(input)) return `no column ${name} in the table: not read; --create makes it`;
  return `no column ${name} in the table; --create makes it`;
}

/** Returns why an import would fail, judging by the first rows; undefined when it would succeed. */
function failureText({ source }: Input, { count, bad, firstBad }: TriedRows, onError: 'stop' | 'skip') {
  if (firstBad === undefined || (onError === 'skip' && bad * 2 <= count)) return undefined;
  const what = `line ${firstBad.line} of ${source.path}: ${firstBad.reason}`;
  if (bad === count) return `${what} Of the first ${count === 1 ? 'row' : `${count} rows`} none can be read.`;
  if (onError === 'skip') return `${what} Of the first ${count} rows ${bad} cannot be read.`;
  return `${what} An import would stop there; --on-error skip sets bad lines aside and goes on.`;
}

function isKnown(known: readonly TableColumn[], name: string): boolean {
  return known.some((column) => isSame(column.name, name));
}

function isSame(name: string, other: string): boolean {
  return name.toLowerCase() === other.toLowerCase();
}
