// Implements the commands of `hedgerow virtual`: the request of each, and how its answer is shown.

import type { CompiledVirtualQuery, HedgerowClient, NewVirtualGraph } from '../../client/index.ts';
import { formatOf, timesOf } from '../query/options.ts';
import { show } from '../query/output.ts';
import type { Row } from '../run/runner.ts';
import { printable } from '../table-text.ts';
import type { World } from '../world.ts';
import { materializeOptions, proposeInput, queryOptions, type VirtualFlags } from './flags.ts';
import { readBody } from './read-body.ts';
import { edgeRunner, fixedRows } from './rows.ts';

export interface VirtualTask {
  readonly client: HedgerowClient['virtual'];
  readonly args: readonly (string | undefined)[];
  /** The query; empty for commands that take none. */
  readonly query: string;
  readonly flags: VirtualFlags;
  readonly world: World;
  readonly signal: AbortSignal;
}

interface TaskKind {
  /** True when the second argument is a query. */
  readonly takesQuery: boolean;
  readonly run: (task: VirtualTask) => Promise<void>;
}

const plain = (run: TaskKind['run']): TaskKind => ({ takesQuery: false, run });
const withQuery = (run: TaskKind['run']): TaskKind => ({ takesQuery: true, run });

export const VIRTUAL_TASKS = {
  backends: plain(backends),
  propose: plain(propose),
  list: plain(list),
  show: plain(showGraph),
  create: plain(create),
  replace: plain(replace),
  delete: plain(remove),
  'clear-cache': plain(clearCache),
  introspect: plain(introspect),
  compile: withQuery(compile),
  query: withQuery(query),
  materialize: withQuery(materialize),
} as const satisfies Record<string, TaskKind>;

export type VirtualTaskName = keyof typeof VIRTUAL_TASKS;

const SPEC = 'one spec as a JSON object, as hedgerow virtual propose writes it';

async function backends(task: VirtualTask): Promise<void> {
  const answer = await task.client.backends({ signal: task.signal });
  const rows = answer.backends.map(({ type, available, description }) => ({ type, available, description }));
  await showRows(task, answer, ['type', 'available', 'description'], rows);
}

/** Writes the spec to stdout, so that it can be saved to a file, and the reasons to stderr. */
async function propose(task: VirtualTask): Promise<void> {
  const { client, args, flags, world, signal } = task;
  const answer = await client.propose(await proposeInput(args[0], flags, world), { signal });
  if (flags.json === true) return write(task, pretty(answer));
  write(task, pretty(answer.spec));
  const reasons = answer.rationale.map(({ edge, reason }) => `${printable(edge)}: ${printable(reason)}\n`);
  world.stderr.write(reasons.join(''));
  if (flags.useLlm === true && !answer.llm_used)
    world.stderr.write('The language model gave no usable answer; this is the proposal without it.\n');
  if (answer.saved) world.stderr.write(storedText(answer.spec.id, answer.spec.spec_version ?? 1));
}

async function list(task: VirtualTask): Promise<void> {
  const answer = await task.client.list({ signal: task.signal });
  const rows = answer.graphs.map(({ id, name, backend_type, edge_labels, node_labels, spec_version }) => {
    return { id, name, backend_type, edge_labels, node_labels, spec_version };
  });
  const columns = ['id', 'name', 'backend_type', 'edge_labels', 'node_labels', 'spec_version'];
  await showRows(task, answer, columns, rows);
}

async function showGraph(task: VirtualTask): Promise<void> {
  write(task, pretty(await task.client.get(task.args[0]!, { signal: task.signal })));
}

async function create(task: VirtualTask): Promise<void> {
  const spec = await readBody(task.args[0]!, SPEC, task.world);
  const stored = await task.client.create(spec as unknown as NewVirtualGraph, { signal: task.signal });
  write(task, task.flags.json === true ? pretty(stored) : storedText(stored.id, stored.spec_version));
}

async function replace(task: VirtualTask): Promise<void> {
  const spec = await readBody(task.args[1]!, SPEC, task.world);
  const stored = await task.client.replace(task.args[0]!, spec as unknown as NewVirtualGraph, { signal: task.signal });
  write(task, task.flags.json === true ? pretty(stored) : storedText(stored.id, stored.spec_version));
}

async function remove(task: VirtualTask): Promise<void> {
  const answer = await task.client.delete(task.args[0]!, { signal: task.signal });
  write(task, task.flags.json === true ? pretty(answer) : `${printable(answer.id)} is deleted.\n`);
}

async function clearCache(task: VirtualTask): Promise<void> {
  const answer = await task.client.clearCache(task.args[0]!, { signal: task.signal });
  const results = answer.cleared === 1 ? '1 kept result is' : `${answer.cleared} kept results are`;
  write(task, task.flags.json === true ? pretty(answer) : `${results} forgotten.\n`);
}

async function introspect(task: VirtualTask): Promise<void> {
  const answer = await task.client.introspect(task.args[0]!, { signal: task.signal });
  const rows = answer.tables.flatMap(({ name, columns, row_count }) =>
    columns.map((column) => ({ table: name, column: column.name, type: column.type, row_count })),
  );
  await showRows(task, answer, ['table', 'column', 'type', 'row_count'], rows);
}

async function compile(task: VirtualTask): Promise<void> {
  const answer = await task.client.compile(task.args[0]!, task.query, { signal: task.signal });
  write(task, task.flags.json === true ? pretty(answer) : `${answer.sql}\n\n${planText(answer.plan)}`);
}

async function query(task: VirtualTask): Promise<void> {
  const { client, args, flags, world, signal } = task;
  const format = formatOf(flags.format, world);
  const times = timesOf(flags.times);
  const options = queryOptions(flags);
  const isLaidOut = format === 'table' || format === 'csv';
  const plan = isLaidOut ? (await client.compile(args[0]!, task.query, { signal })).plan : undefined;
  const edges = client.queryRows(args[0]!, task.query, options, { signal });
  await show(edgeRunner(edges, plan), { statement: '', parameters: {}, signal, times }, format, world.stdout);
}

async function materialize(task: VirtualTask): Promise<void> {
  const { client, args, flags, signal } = task;
  const input = { query: task.query, ...materializeOptions(flags) };
  const made = await client.materialize(args[0]!, input, { signal });
  if (flags.json === true) return write(task, pretty(made));
  const columns = made.columns.map(({ name, type, property }) => {
    return `${name} ${type}${name === property ? '' : ` (${JSON.stringify(property)})`}`;
  });
  const lines: [string, string][] = [
    ['table', `${made.table}, ${counted(made.inserted, 'edge')}`],
    ['nodes', `${nodesText(made)}, ${counted(made.nodes, 'node')}`],
    ['columns', columns.join(', ') || '-'],
    ['skipped', String(made.skipped)],
  ];
  write(task, linesText(lines));
}

function nodesText({
  node_tables,
  nodes_table,
  ids,
}: Awaited<ReturnType<VirtualTask['client']['materialize']>>): string {
  return node_tables === undefined ? `${nodes_table} (ids by ${ids})` : node_tables.join(', ');
}

async function showRows(task: VirtualTask, answer: unknown, columns: readonly string[], rows: readonly Row[]) {
  const { flags, world, signal } = task;
  const format = formatOf(flags.format, world);
  if (format === 'json') return write(task, `${JSON.stringify(answer)}\n`);
  await show(fixedRows(columns, rows), { statement: '', parameters: {}, signal }, format, world.stdout);
}

function planText({ edge_label, members, ...predicates }: CompiledVirtualQuery['plan']): string {
  const { edge_predicates, member_predicates, size_predicates } = predicates;
  const condition = (subject: string, { op, value }: { op: string; value: unknown }): [string, string] => [
    'condition',
    `${subject} ${op} ${JSON.stringify(value)}`,
  ];
  return linesText([
    ['edge', edge_label],
    ...members.map(({ name, node_label, column, role }): [string, string] => {
      return ['member', `${name}: ${node_label}, column ${column}, role ${role}`];
    }),
    ...edge_predicates.map((one) => condition(one.column, one)),
    ...member_predicates.map((one) => condition(`${one.member}.id`, one)),
    ...size_predicates.map((one) => condition('size', one)),
  ]);
}

function linesText(lines: readonly (readonly [string, string])[]): string {
  const width = Math.max(...lines.map(([name]) => name.length));
  return lines.map(([name, value]) => `${name.padEnd(width)}  ${printable(value)}\n`).join('');
}

function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

function storedText(id: string, version: number): string {
  return `${printable(id)} is stored, version ${version}.\n`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function pretty(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Writes a text; escapes control characters when the output is a terminal. */
function write({ world: { stdout } }: VirtualTask, text: string): void {
  stdout.write(stdout.isTTY === true ? printableLines(text) : text);
}
