// Defines the commands of the shell itself: lines that begin with a dot.

import { OPTION_FIELDS } from '../../model/options.ts';
import { FORMATS } from '../query/formats.ts';
import { jsonValue } from '../query/options.ts';
import { ResultTable } from '../query/result-table.ts';
import type { Row } from '../run/runner.ts';
import { printable } from '../table-text.ts';
import { UsageError } from '../world.ts';
import type { CommandName } from './completion.ts';
import { keyText, nodeSchemaText, schemaText } from './schema-text.ts';
import type { ShellSession } from './session.ts';

/** `quit` ends the shell. */
export type Outcome = 'ok' | 'failed' | 'quit';

interface Command extends CommandName {
  /** The arguments, as they are shown after the name. */
  readonly form: string;
  readonly about: string;
  run(session: ShellSession, rest: string): Promise<Outcome> | Outcome;
}

export const COMMANDS: readonly Command[] = [
  { name: '.tables', takes: 'nothing', form: '', about: 'list the tables', run: showTables },
  {
    name: '.schema',
    takes: 'table',
    form: '[TABLE]',
    about: 'show tables as the statements that create them',
    run: showSchema,
  },
  { name: '.indexes', takes: 'nothing', form: '', about: 'list the indexes', run: showIndexes },
  { name: '.mode', takes: 'format', form: FORMATS.join('|'), about: 'the form in which rows are shown', run: setMode },
  { name: '.timer', takes: 'switch', form: 'on|off', about: 'show how long statements take', run: setTimer },
  {
    name: '.param',
    takes: 'nothing',
    form: '[NAME [JSON]]',
    about: 'list, remove or set a parameter',
    run: setParameter,
  },
  {
    name: '.check',
    takes: 'table',
    form: 'TABLE TEXT',
    about:
      'check whether edges support what a text says about them, as in .check calls Node 3 spoke for 5 minutes [HEDGE-12].',
    run: checkSaid,
  },
  { name: '.help', takes: 'nothing', form: '', about: 'show this', run: showHelp },
  { name: '.quit', takes: 'nothing', form: '', about: 'end the shell', run: () => 'quit' },
];

/** Runs a line that begins with a dot, and writes its output or its error. */
export async function runCommand(session: ShellSession, line: string): Promise<Outcome> {
  const [, name, rest] = /^\s*(\.\S*)\s*([\s\S]*?)\s*;?\s*$/.exec(line)!;
  const command = COMMANDS.find((one) => one.name === name);
  try {
    if (command === undefined) throw new UsageError(`there is no command ${name}; .help lists them.`);
    return await command.run(session, rest!);
  } catch (error) {
    session.world.stderr.write(`hedgerow: ${printable((error as Error).message)}\n`);
    return 'failed';
  }
}

async function showTables(session: ShellSession): Promise<Outcome> {
  const rows = await session.ask('SHOW TABLES');
  writeTable(session, ['name', 'row_count', ...OPTION_FIELDS, 'primary'], rows);
  const nodeTables = await session.ask('SHOW NODE TABLES');
  if (nodeTables.length > 0)
    writeTable(
      session,
      ['node_table', 'key', 'row_count'],
      nodeTables.map(({ name, key, row_count }) => ({ node_table: name, key: keyText(key), row_count })),
    );
  return 'ok';
}

async function showIndexes(session: ShellSession): Promise<Outcome> {
  writeTable(session, ['table', 'column'], await session.ask('SHOW INDEXES'));
  return 'ok';
}

function writeTable({ world }: ShellSession, columns: readonly string[], rows: readonly Row[]): void {
  const table = new ResultTable(columns, rows);
  world.stdout.write(table.head() + table.rows(rows));
}

async function showSchema(session: ShellSession, name: string): Promise<Outcome> {
  const isWanted = (row: Row) => name === '' || String(row.name).toLowerCase() === name.toLowerCase();
  const nodeTables = (await session.ask('SHOW NODE TABLES')).filter(isWanted);
  const wanted = (await session.ask('SHOW TABLES')).filter(isWanted);
  if (name !== '' && wanted.length + nodeTables.length === 0)
    throw new UsageError(`there is no table ${name}; .tables lists them.`);
  const indexes = await session.ask('SHOW INDEXES');
  // A hyperedge table names its node tables, which must exist before it.
  for (const table of nodeTables) session.world.stdout.write(nodeSchemaText(table, indexes));
  for (const table of wanted) session.world.stdout.write(schemaText(table, indexes));
  return 'ok';
}

function setMode(session: ShellSession, rest: string): Outcome {
  const format = FORMATS.find((one) => one === rest);
  if (format === undefined) throw new UsageError(`.mode takes one of ${FORMATS.join(', ')}; it is ${session.format}.`);
  session.format = format;
  return 'ok';
}

function setTimer(session: ShellSession, rest: string): Outcome {
  if (rest !== 'on' && rest !== 'off')
    throw new UsageError(`.timer takes on or off; it is ${session.timer ? 'on' : 'off'}.`);
  session.timer = rest === 'on';
  return 'ok';
}

function setParameter({ parameters, world }: ShellSession, rest: string): Outcome {
  const [, name, value] = /^\$?(\S*)\s*([\s\S]*)$/.exec(rest)!;
  if (name === '') {
    for (const [known, one] of parameters) world.stdout.write(`$${known} ${printable(JSON.stringify(one))}\n`);
    return 'ok';
  }
  if (!/^[A-Za-z_]\w*$/.test(name!))
    throw new UsageError(`the name of a parameter consists of letters, digits and _, not ${name}.`);
  if (value === '') parameters.delete(name!);
  else parameters.set(name!, jsonValue(name!, value!));
  return 'ok';
}

function showHelp({ world }: ShellSession): Outcome {
  const lines = COMMANDS.map(({ name, form, about }) => `${`${name} ${form}`.padEnd(30)} ${about}\n`);
  world.stdout.write(
    `${lines.join('')}Anything else is a statement; it ends with a semicolon and may have several lines.\n`,
  );
  return 'ok';
}

/** Matches the tag of an edge. */
const EDGE_TAG = /\[HEDGE-(\d{1,16})\]/g;

async function checkSaid(session: ShellSession, rest: string): Promise<Outcome> {
  const [, table, text] = /^(\S+)\s+([\s\S]+)$/.exec(rest) ?? [];
  if (table === undefined || text === undefined) throw new UsageError('.check takes a table and a text.');
  const ids = new Set([...text.matchAll(EDGE_TAG)].map(([, id]) => Number(id)));
  if (ids.size === 0)
    throw new UsageError(
      'the text cites no edge; put the id of the edge after what is said about it, as in: It rained [HEDGE-12].',
    );
  const { results, supported, total } = await session.check({ table, text, edge_ids: [...ids] });
  const { stdout } = session.world;
  for (const { text: sentence, supported: isSupported, reasons } of results) {
    stdout.write(`${isSupported ? 'supported' : 'NOT supported'}: ${printable(sentence)}\n`);
    for (const reason of reasons) stdout.write(`  ${printable(reason)}\n`);
  }
  stdout.write(`${supported} of ${total} supported\n`);
  return supported === total ? 'ok' : 'failed';
}
