// Defines the commands of the `hedgerow` command line. A command's code is loaded when it is run.

import { Readable } from 'node:stream';
import type { AnalyzeFlags } from './analyze/command.ts';
import type { ChangesFlags } from './changes/command.ts';
import { Command, CommanderError, type Host, withServer, withServerOrDirectory } from './command-line.ts';
import { addBackup, addCheckProof, addInspect, addRestore, addVerify } from './commands/care.ts';
import { addConfig, addDemo, addHa, addKeys, addMcp, addServe, addServeVirtual } from './commands/service.ts';
import { addVirtual } from './commands/virtual.ts';
import type { DumpFlags } from './dump/command.ts';
import { EXIT_CODES, exampleText } from './examples.ts';
import type { ExportFlags } from './export/command.ts';
import type { ImportFlags } from './import/options.ts';
import { ROW_FLAGS } from './import/rows/row-flag-texts.ts';
import type { LoadFlags } from './load/command.ts';
import type { QueryFlags } from './query/command.ts';
import { FORMATS, TIMES_FLAG } from './query/formats.ts';
import { Cancelled } from './run/runner.ts';
import type { ShellFlags } from './shell/command.ts';
import { nodeWorld, type World } from './world.ts';

/**
 * Signals that end a command early, with the exit code of a command ended this way: 128 plus the
 * number of the signal, as shells define it.
 */
const CODE_OF_SIGNAL: Readonly<Record<string, number>> = { SIGINT: 130, SIGTERM: 143 };

/**
 * Runs one command and resolves with its exit code, one of those in `EXIT_CODES`. The command
 * prints its own output.
 */
export async function runProgram(
  argv: readonly string[],
  version: string,
  given: World = nodeWorld(),
): Promise<number> {
  let exitCode = 0;
  let signal: string | undefined;
  const { environment, cwd, stdin, stdout, stderr, now } = given;
  const world: World = {
    ...{ environment, cwd, stdin, stdout, stderr, now },
    onInterrupt: (callback) =>
      given.onInterrupt((heard) => {
        signal = heard;
        callback(heard);
        endInput(stdin);
      }),
    onHangup: (callback) => given.onHangup(callback),
  };
  const done = (code: number) => {
    exitCode = code;
  };
  try {
    await buildProgram({ world, serverWorld: given, done }, version).parseAsync([...argv], { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    throw error;
  }
  return signal !== undefined && exitCode === 1 ? CODE_OF_SIGNAL[signal]! : exitCode;
}

/** Ends standard input, because a command that waits for input would otherwise never end. */
function endInput(stdin: World['stdin']): void {
  if (!(stdin instanceof Readable)) return;
  // A command that reads stdin receives this error. If no command reads stdin, the error is
  // ignored.
  stdin.on('error', () => {});
  stdin.destroy(new Cancelled());
}

/** Builds all commands with their flags, help texts and actions. */
export function buildProgram(host: Host, version: string): Command {
  const program = new Command('hedgerow')
    .description('Temporal hypergraph database: time-stamped events that join any number of nodes.')
    .version(version)
    .showHelpAfterError('(hedgerow --help lists the commands)')
    .helpCommand(false)
    .exitOverride();
  addServe(program, host);
  addServeVirtual(program, host);
  addQuery(program, host);
  addShell(program, host);
  addAnalyze(program, host);
  addVirtual(program, host);
  addImport(program, host);
  addExport(program, host);
  addChanges(program, host);
  addDump(program, host);
  addLoad(program, host);
  addInspect(program, host);
  addDemo(program, host);
  addBackup(program, host);
  addRestore(program, host);
  addVerify(program, host);
  addCheckProof(program, host);
  addMcp(program, host);
  addKeys(program, host);
  addHa(program, host);
  addConfig(program, host);
  addCompletion(program, host);
  addHelp(program);
  addVersion(program, host, version);
  program.addHelpText('after', EXIT_CODES);
  addExamples(program, []);
  return program;
}

/** Adds examples to the help of every command that has no subcommands. */
function addExamples(command: Command, path: readonly string[]): void {
  for (const inner of command.commands) addExamples(inner, [...path, inner.name()]);
  if (command.commands.length === 0) command.addHelpText('after', exampleText(path.join(' ')));
}

function addHelp(program: Command): void {
  program
    .command('help')
    .description('Show the help of a command, as its --help does.')
    .argument('[command...]')
    .action((names: string[]) => {
      let command = program;
      for (const name of names) {
        const inner = command.commands.find((one) => one.name() === name);
        if (inner === undefined) return command.error(`error: unknown command '${name}'`);
        command = inner;
      }
      return command.help();
    });
}

function addVersion(program: Command, { world, done }: Host, version: string): void {
  program
    .command('version')
    .description('Show the version, as --version does.')
    .action(() => {
      world.stdout.write(`${version}\n`);
      done(0);
    });
}

function addCompletion(program: Command, { world, done }: Host): void {
  program
    .command('completion')
    .description('Print a script with which a shell completes commands, flags and their values at the Tab key.')
    .argument('<shell>', 'bash, zsh or fish')
    .action(async (shell: string) => {
      const { treeOf } = await import('./completion/tree.ts');
      done((await import('./completion/command.ts')).completionCommand(shell, treeOf(program), world));
    });
}

function addImport(program: Command, { done, world }: Host): void {
  const command = withTarget(
    program
      .command('import')
      .description('Import edges from files or stdin (-): CSV, NDJSON, Parquet or HIF; gzip is detected.')
      .argument('[file...]'),
  )
    .option('--format <format>', 'csv, ndjson, parquet or hif (default: that of the file name, or ndjson)')
    .option('--table <name>', 'table to import into (default: the primary table)')
    .option('--create', 'create the table and the columns if they are missing')
    .option('--create-table', 'create the table if it is missing')
    .option('--node-table <name>', 'node table of a new table whose members are names (default: <table>_node)')
    .option('--nodes <file>', 'file with nodes and their attributes: CSV, NDJSON or Parquet, one node per row')
    .option('--key <column>', 'with --nodes: the column with the keys of the nodes (default: name, key, id or node)')
    .option('--bucket-seconds <number>', 'for a new table: width of its time buckets (default 10)')
    .option('--dry-run', 'show columns, types and first edges, and write nothing')
    .option('--batch <rows>', 'rows per commit (default 10000)')
    .option('--on-error <mode>', 'stop at the first bad line, or skip bad lines (default stop)')
    .option('--max-rejects <number>', 'skip bad lines, but fail if there are more of them than this')
    .option('--rejects <file>', 'file for the bad lines (default <input>.rejects.ndjson in this directory)')
    .option('--resume', 'continue an interrupted import, with the help of <input>.progress.json')
    .option('--compact', 'compact the table at the end');
  withRowFlags(command).action(async (files: string[], options: ImportFlags) => {
    const { importCommand } = await import('./import/command.ts');
    done(await importCommand(files, options, world));
  });
}

function addExport(program: Command, { done, world }: Host): void {
  withServerOrDirectory(
    program
      .command('export')
      .description(
        'Write the edges of a table, or the rows of a statement, to a file or stdout. import reads them again, except graphml and gexf.',
      ),
    'key',
  )
    .option('--table <name>', 'table to export (default: the primary table)')
    .option('--start <time>', 'edges from this time on: seconds since 1970, or ISO 8601')
    .option('--end <time>', 'edges up to and including this time')
    .option('--statement <match>', 'export the rows of this MATCH instead of a table')
    .option(
      '--format <format>',
      'csv, ndjson, parquet, hif, graphml or gexf (default: that of the file name, or ndjson)',
    )
    .option('--out <file>', 'a new file, compressed if its name ends with .gz (default, or with -: stdout)')
    .option('--separator <text>', 'in CSV, between the members of an edge (default ;)')
    .option(...TIMES_FLAG)
    .action(async (options: ExportFlags) => {
      done(await (await import('./export/command.ts')).exportCommand(options, world));
    });
}

function addChanges(program: Command, { done, world }: Host): void {
  withServerOrDirectory(
    program
      .command('changes')
      .description('Write committed changes to stdout in their order, one JSON object per line.'),
    'key',
  )
    .option('--follow', 'wait for further changes until Ctrl-C; lost connections are opened again')
    .option('--from-lsn <number>', 'changes after this LSN (default: all that are still kept)')
    .option('--table <name>', 'only changes of this table (default: of all tables)')
    .option('--limit <number>', 'at most this many changes')
    .addHelpText('after', CHANGES_HELP)
    .action(async (options: ChangesFlags) => {
      done(await (await import('./changes/command.ts')).changesCommand(options, world));
    });
}

const CHANGES_HELP = `
Each line has the LSN of its change: --from-lsn with the last one continues without a gap.
Changes are kept for HEDGEROW_CHANGES_KEEP_SECONDS, but never more than HEDGEROW_CHANGES_KEEP_MB of log.`;

function addDump(program: Command, { done, world }: Host): void {
  withServerOrDirectory(
    program
      .command('dump')
      .description(
        'Write a whole database into a new directory: edges, tables, indexes, rules, virtual graphs; no keys.',
      )
      .argument('<dir>'),
    'readonly key',
  )
    .option('--format <format>', 'format of the edges: parquet, ndjson or statements (default parquet)')
    .action(async (dir: string, options: DumpFlags) => {
      done(await (await import('./dump/command.ts')).dumpCommand(dir, options, world));
    });
}

function addLoad(program: Command, { done, world }: Host): void {
  withServerOrDirectory(
    program
      .command('load')
      .description('Create a database from the output of dump. Edges get new ids.')
      .argument('<dir>'),
    'admin key',
  )
    .option('--resume', 'continue an interrupted load')
    .action(async (dir: string, options: LoadFlags) => {
      done(await (await import('./load/command.ts')).loadCommand(dir, options, world));
    });
}

/** Adds the flags that determine how rows become edges. */
function withRowFlags(command: Command): Command {
  return ROW_FLAGS.reduce((all, [flag, text]) => all.option(flag, text), command).option(
    '--role <role=column>',
    'role and the column with its members, one node or a list; repeat the flag for each role',
    repeated,
  );
}

/** Collects the values of a flag that may be repeated. */
function repeated(one: string, others: string[] = []): string[] {
  return [...others, one];
}

function addQuery(program: Command, { done, world }: Host): void {
  withRunner(
    program
      .command('query')
      .description('Run one statement and show its rows.')
      .argument('<statement>', 'the statement, or - to read it from stdin'),
  )
    .option('--param <name=json>', 'value of $name in the statement; repeat the flag for each name', repeated)
    .option(...TIMES_FLAG)
    .action(async (statement: string, options: QueryFlags) => {
      done(await (await import('./query/command.ts')).queryCommand(statement, options, world));
    });
}

function addShell(program: Command, { done, world }: Host): void {
  withRunner(
    program
      .command('shell')
      .description('Run statements one after the other, on a terminal or from a script on stdin.'),
  )
    .option(...TIMES_FLAG)
    .action(async (options: ShellFlags) => {
      const { shellCommand } = await import('./shell/command.ts');
      done(await shellCommand(options, world));
    });
}

function addAnalyze(program: Command, { done, world }: Host): void {
  withRunner(
    program
      .command('analyze')
      .description('Compute a measure of a table as a hypergraph; without a table, list the measures.')
      .argument('[table]')
      .argument('[measure]'),
  )
    .option(
      '--param <name=value>',
      'a parameter of the measure; repeat the flag for each parameter',
      (one: string, others: string[] = []) => [...others, one],
    )
    .option('--params <json>', 'parameters as one JSON object')
    .action(async (table: string | undefined, measure: string | undefined, options: AnalyzeFlags) => {
      done(await (await import('./analyze/command.ts')).analyzeCommand(table, measure, options, world));
    });
}

/** Adds the flags that select where statements run and how their rows are shown. */
function withRunner(command: Command): Command {
  return withServerOrDirectory(command, 'key').option(
    '--format <format>',
    `${FORMATS.join(', ')} (default table on a terminal, else json)`,
  );
}

/** Adds the flags that select where edges are written. */
function withTarget(command: Command): Command {
  return withServer(command, 'key')
    .option('--connections <number>', 'concurrent requests to the server (default 1, which keeps the order)')
    .option('--data <dir>', 'straight into a data directory that no server has open')
    .option('--max-members <number>', 'with --data: maximum members of an edge (HEDGEROW_MAX_MEMBERS, default 64)');
}
