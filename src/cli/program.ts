// The `hedgerow` command line: which commands there are and which flags they take. The only file that knows commander.

import { Command } from 'commander';
import { type ServeFlags, serve } from './serve.ts';

/** Resolves with the exit code. Commands do their own printing. */
export async function runProgram(argv: readonly string[], version: string): Promise<number> {
  let exitCode = 0;
  const program = new Command('hedgerow')
    .description('Temporal hypergraph database: time-stamped events that join any number of nodes.')
    .version(version)
    .showHelpAfterError('(hedgerow --help lists the commands)');
  addServe(program, (code) => {
    exitCode = code;
  });
  // `import`, `inspect` and `demo` are added here in the same way: one function each below, the work in a file of its own.
  await program.parseAsync([...argv], { from: 'user' });
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
