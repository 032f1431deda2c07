// The `hedgerow` command line: which commands there are and which flags they take. The only file that knows commander.

import { Command, CommanderError, Option } from 'commander';
import { type DemoFlags, demoCommand } from './demo/command.ts';
import { importCommand } from './import/command.ts';
import { DEFAULT_URL, type ImportFlags } from './import/options.ts';
import { type InspectFlags, inspectCommand } from './inspect/command.ts';
import { type ServeFlags, serve } from './serve.ts';
import { nodeWorld } from './world.ts';

/** Resolves with the exit code: 2 for a call that commander refuses. Commands do their own printing. */
export async function runProgram(argv: readonly string[], version: string): Promise<number> {
  let exitCode = 0;
  const program = new Command('hedgerow')
    .description('Temporal hypergraph database: time-stamped events that join any number of nodes.')
    .version(version)
    .showHelpAfterError('(hedgerow --help lists the commands)')
    .exitOverride();
  const done = (code: number): void => {
    exitCode = code;
  };
  addServe(program, done);
  addImport(program, done);
  addInspect(program, done);
  addDemo(program, done);
  try {
    await program.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : 2;
  }
  return exitCode;
}

function addServe(program: Command, done: (exitCode: number) => void): void {
  program
    .command('serve')
    .description('Serve a data directory over HTTP until SIGINT or SIGTERM.')
    .option('--data <dir>', 'data directory (HEDGEROW_DATA_DIR, default ./data)')
    .option('--host <address>', 'address to listen on (HEDGEROW_HOST, default 127.0.0.1)')
    .option('--port <number>', 'port to listen on, 0 takes a free one (HEDGEROW_PORT, default 8000)')
    .option('--durability <mode>', 'fsync or async (HEDGEROW_DURABILITY, default fsync)')
    .option('--memory-budget-mb <number>', 'memory for segments (HEDGEROW_MEMORY_BUDGET_MB, default half of memory)')
    .option('--max-body-mb <number>', 'largest request body (HEDGEROW_MAX_BODY_MB, default 64)')
    .option('--max-members <number>', 'most members of an edge (HEDGEROW_MAX_MEMBERS, default 64, at most 255)')
    .option('--primary-table <name>', 'table used when none is named (HEDGEROW_PRIMARY_TABLE, default hyperedges)')
    .option('--log-format <format>', 'text or json (HEDGEROW_LOG_FORMAT)')
    .option('--log-level <level>', 'debug, info, warn or error (HEDGEROW_LOG_LEVEL, default info)')
    .action(async (options: Record<string, string | undefined>) => {
      const { data, ...others } = options;
      done(await serve({ ...others, dataDir: data } as ServeFlags));
    });
}

function addImport(program: Command, done: (exitCode: number) => void): void {
  withTarget(
    program
      .command('import')
      .description('Import edges, one JSON object a line, from files or stdin (-); gzip is recognised by itself.')
      .argument('<file...>'),
  )
    .option('--table <name>', 'table to import into (default: the primary table)')
    .option('--create-table', 'make the table when it is missing')
    .option('--bucket-seconds <number>', 'with --create-table: width of its time buckets (default 10)')
    .option('--batch <rows>', 'rows of one commit (default 10000)')
    .option('--on-error <mode>', 'stop at the first bad line, or skip bad lines (default stop)')
    .option('--rejects <file>', 'where bad lines go (default <input>.rejects.ndjson in this directory)')
    .option('--compact', 'compact the table at the end')
    .action(async (files: string[], options: ImportFlags) => {
      done(await importCommand(files, options, nodeWorld()));
    });
}

function addInspect(program: Command, done: (exitCode: number) => void): void {
  program
    .command('inspect')
    .description('Show what is in a log file, a manifest, a segment or a data directory. Only reads; a server may run.')
    .argument('<path...>')
    .option('--json', 'one JSON document a line for every path')
    .option('--limit <number>', 'of a log: frames to show, 0 = all (default 50)')
    .option('--rows <number>', 'of a segment: first and last rows to show (default 3)')
    .option('--deep', 'of a directory: read and check the segments whole')
    .action(async (paths: string[], options: InspectFlags) => {
      done(inspectCommand(paths, options, nodeWorld()));
    });
}

function addDemo(program: Command, done: (exitCode: number) => void): void {
  withTarget(
    program
      .command('demo')
      .description(
        'Make some weeks of meetings between a few thousand people, and import them into the table meetings.',
      ),
  )
    .option('--table <name>', 'another name for the table')
    .option('--people <number>', 'how many people (default 3000)')
    .option('--days <number>', 'how many days, from Monday 2024-01-01 on (default 28)')
    .option('--seed <number>', 'the same seed makes the same meetings (default 1)')
    .action(async (options: DemoFlags) => {
      done(await demoCommand(options, nodeWorld()));
    });
}

/** Flags that say where edges go. */
function withTarget(command: Command): Command {
  return command
    .option('--url <address>', `a running server (default ${DEFAULT_URL})`)
    .addOption(new Option('--api-key <key>', 'key for the server').env('HEDGEROW_API_KEY'))
    .option('--connections <number>', 'requests to the server at once (default 1, which keeps the order)')
    .option('--data <dir>', 'straight into a data directory that no server has open')
    .option('--max-members <number>', 'with --data: most members of an edge (HEDGEROW_MAX_MEMBERS, default 64)');
}
