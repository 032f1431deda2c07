// The `hedgerow` command line: which commands there are and which flags they take; a command is loaded when it is run. The only file that knows commander.

import { Command, CommanderError, Option } from 'commander';
import { flagOf, SETTING_NAMES, SETTINGS, variableOf } from '../config.ts';
import type { AnalyzeFlags } from './analyze/command.ts';
import type { BackupFlags } from './backup/command.ts';
import type { CheckProofFlags } from './check-proof/command.ts';

import type { SettingFlags } from './config/load.ts';
import type { DemoFlags } from './demo/command.ts';
import type { DumpFlags } from './dump/command.ts';
import type { ExportFlags } from './export/command.ts';
import type { ImportFlags } from './import/options.ts';
import type { InspectFlags } from './inspect/command.ts';
import type { CreateFlags, KeysFlags } from './keys/command.ts';
import type { LoadFlags } from './load/command.ts';
import type { McpFlags } from './mcp/command.ts';
import type { QueryFlags } from './query/command.ts';
import { FORMATS } from './query/formats.ts';
import type { RestoreFlags } from './restore/command.ts';
import type { ServeVirtualFlags } from './serve-virtual.ts';
import { DEFAULT_URL } from './server-address.ts';
import type { ShellFlags } from './shell/command.ts';
import type { VerifyFlags } from './verify/command.ts';
import type { VirtualFlags } from './virtual/command.ts';
import { VIRTUAL_USAGE } from './virtual/usage.ts';
import { nodeWorld } from './world.ts';

type Done = (exitCode: number) => void;

/** Resolves with the exit code: 2 for a call that commander refuses. Commands do their own printing. */
export async function runProgram(argv: readonly string[], version: string): Promise<number> {
  let exitCode = 0;
  const program = new Command('hedgerow')
    .description('Temporal hypergraph database: time-stamped events that join any number of nodes.')
    .version(version)
    .showHelpAfterError('(hedgerow --help lists the commands)')
    .exitOverride();
  const done: Done = (code) => {
    exitCode = code;
  };
  addServe(program, done);
  addServeVirtual(program, done);
  addQuery(program, done);
  addShell(program, done);
  addAnalyze(program, done);
  addVirtual(program, done);
  addImport(program, done);
  addExport(program, done);
  addDump(program, done);
  addLoad(program, done);
  addInspect(program, done);
  addDemo(program, done);
  addBackup(program, done);
  addRestore(program, done);
  addVerify(program, done);
  addCheckProof(program, done);
  addMcp(program, done);
  addKeys(program, done);
  addConfig(program, done);
  try {
    await program.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    throw error;
  }
  return exitCode;
}

function addServe(program: Command, done: Done): void {
  withSettings(
    program.command('serve').description('Serve a data directory over HTTP until SIGINT or SIGTERM.'),
  ).action(async (options: Options) => {
    done(await (await import('./serve.ts')).serve(settingFlags(options), nodeWorld()));
  });
}

function addServeVirtual(program: Command, done: Done): void {
  program
    .command('serve-virtual')
    .description('Serve virtual graphs alone, without keys and without a database, to this machine: for development.')
    .option('--spec-dir <dir>', 'specs as JSON files, one a graph, named <id>.json; read at the start')
    .option('--root <dir>', 'files of backends lie below it (default: the folder of the specs)')
    .option('--host <address>', 'an address of this machine only (default 127.0.0.1)')
    .option('--port <number>', 'default 8000')
    .option('--config <file>', 'TOML file; of its settings those of logs, language models and virtual graphs count')
    .addHelpText('after', SERVE_VIRTUAL_HELP)
    .action(async (options: ServeVirtualFlags) => {
      done(await (await import('./serve-virtual.ts')).serveVirtual(options, nodeWorld()));
    });
}

const SERVE_VIRTUAL_HELP = `
Routes: /v1/virtual/* (all but materialize), /health/live, /health/ready, /openapi.json, /docs.
Graphs that are created, replaced or deleted change the files of the folder at once.
Databases: HEDGEROW_VIRTUAL_DSN_<NAME>. Files such as data.json must not lie beside the specs: put them into a folder below.`;

function addConfig(program: Command, done: Done): void {
  const config = program.command('config').description('The settings of the service.');
  withSettings(config.command('print').description('Show every setting and where it comes from; secrets are masked.'))
    .option('--json', 'one JSON object')
    .action(async (options: Options) => {
      const flags = { ...settingFlags(options), json: options.json !== undefined };
      done((await import('./config/command.ts')).configPrintCommand(flags, nodeWorld()));
    });
}

function addKeys(program: Command, done: Done): void {
  const keys = program
    .command('keys')
    .description('API keys of a running server, or of a directory no server has open.');
  withKeysFlags(keys.command('create').description('Create a key and show it, this once only.'))
    .option('--role <role>', 'readonly, readwrite or admin')
    .option('--description <text>', 'what the key is for')
    .option('--expires-days <number>', 'days until it expires, fractions too (default: it does not)')
    .action(async (options: CreateFlags) => {
      done(await (await import('./keys/command.ts')).keysCreateCommand(options, nodeWorld()));
    });
  withKeysFlags(keys.command('list').description('List the keys that are not revoked.')).action(
    async (options: KeysFlags) => {
      done(await (await import('./keys/command.ts')).keysListCommand(options, nodeWorld()));
    },
  );
  withKeysFlags(keys.command('revoke').description('Revoke a key, at once and for good.').argument('<key_id>')).action(
    async (keyId: string, options: KeysFlags) => {
      done(await (await import('./keys/command.ts')).keysRevokeCommand(keyId, options, nodeWorld()));
    },
  );
}

function withKeysFlags(command: Command): Command {
  return withServerOrDirectory(command, 'admin key').option('--json', 'for machines');
}

function withServer(command: Command, key: string): Command {
  return command
    .option('--url <address>', `a running server (default ${DEFAULT_URL})`)
    .addOption(new Option('--api-key <key>', `${key} for the server`).env('HEDGEROW_API_KEY'));
}

function withServerOrDirectory(command: Command, key: string): Command {
  return withServer(command, key)
    .option('--data <dir>', 'a data directory that no server has open; needs no key')
    .option('--config <file>', 'with --data: the TOML file its server is started with');
}

/** `true`: a flag without its value. */
type Options = Readonly<Record<string, string | true | undefined>>;

/** One flag for every setting; a switch without a value is on. */
function withSettings(command: Command): Command {
  command.option('--config <file>', 'TOML file with settings; flags and environment beat it');
  for (const name of SETTING_NAMES) {
    const { kind, about, shown } = SETTINGS[name];
    const origin = shown === undefined ? variableOf(name) : `${variableOf(name)}, default ${shown}`;
    command.option(`--${flagOf(name)} ${kind.placeholder}`, `${about} (${origin})`);
  }
  return command.addHelpText('after', SETTINGS_HELP);
}

const SETTINGS_HELP = `
Flags beat environment, environment beats the file, the file beats defaults.
In the file a setting is called as by config print, such as data_dir = "...".
Databases of virtual graphs: HEDGEROW_VIRTUAL_DSN_<NAME>, or [virtual_dsn] in the file.
Others on this machine can see flags: secrets are better off in the environment or the file.`;

function settingFlags(options: Options): SettingFlags {
  const value = (flag: string): string | undefined => {
    const given = options[camelCase(flag)];
    return given === true ? '1' : given;
  };
  return {
    config: value('config'),
    settings: Object.fromEntries(SETTING_NAMES.map((name) => [name, value(flagOf(name))])),
  };
}

/** `tls-cert` -> `tlsCert`: the name under which commander gives the value. */
function camelCase(flag: string): string {
  return flag.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function addImport(program: Command, done: Done): void {
  const command = withTarget(
    program
      .command('import')
      .description('Import edges from files or stdin (-): CSV, NDJSON, Parquet or HIF; gzip is recognised by itself.')
      .argument('<file...>'),
  )
    .option('--format <format>', 'csv, ndjson, parquet or hif (default by the ending of the name, else ndjson)')
    .option('--table <name>', 'table to import into (default: the primary table)')
    .option('--create', 'make the table and columns that are missing')
    .option('--create-table', 'make the table when it is missing')
    .option('--bucket-seconds <number>', 'with a new table: width of its time buckets (default 10)')
    .option('--dry-run', 'show columns, types and first edges, and write nothing')
    .option('--batch <rows>', 'rows of one commit (default 10000)')
    .option('--on-error <mode>', 'stop at the first bad line, or skip bad lines (default stop)')
    .option('--rejects <file>', 'where bad lines go (default <input>.rejects.ndjson in this directory)')
    .option('--resume', 'go on with an import that was interrupted, by <input>.progress.json')
    .option('--compact', 'compact the table at the end');
  withRowFlags(command).action(async (files: string[], options: ImportFlags) => {
    const { importCommand } = await import('./import/command.ts');
    done(await importCommand(files, options, nodeWorld()));
  });
}

function addExport(program: Command, done: Done): void {
  withServerOrDirectory(
    program
      .command('export')
      .description(
        'Write the edges of a table, or the rows of a statement, to a file or stdout. import reads them again.',
      ),
    'key',
  )
    .option('--table <name>', 'table to export (default: the primary table)')
    .option('--start <time>', 'edges from this time on: seconds since 1970, or ISO 8601')
    .option('--end <time>', 'edges up to this time, itself included')
    .option('--statement <match>', 'instead of a table: the rows of a MATCH')
    .option('--format <format>', 'csv, ndjson, parquet or hif (default by the ending of the file, else ndjson)')
    .option('--out <file>', 'a new file, packed when it ends with .gz; - or nothing: stdout')
    .option('--separator <text>', 'in CSV, between the members of an edge (default ;)')
    .action(async (options: ExportFlags) => {
      done(await (await import('./export/command.ts')).exportCommand(options, nodeWorld()));
    });
}

function addDump(program: Command, done: Done): void {
  withServerOrDirectory(
    program
      .command('dump')
      .description(
        'Write a whole database into a new directory: edges, tables, indexes, rules, virtual graphs; no keys.',
      )
      .argument('<dir>'),
    'readonly key',
  )
    .option('--format <format>', 'of the edges: parquet, ndjson or statements (default parquet)')
    .action(async (dir: string, options: DumpFlags) => {
      done(await (await import('./dump/command.ts')).dumpCommand(dir, options, nodeWorld()));
    });
}

function addLoad(program: Command, done: Done): void {
  withServerOrDirectory(
    program.command('load').description('Make a database of what dump wrote. Edges get new ids.').argument('<dir>'),
    'admin key',
  )
    .option('--resume', 'go on with a load that was interrupted')
    .action(async (dir: string, options: LoadFlags) => {
      done(await (await import('./load/command.ts')).loadCommand(dir, options, nodeWorld()));
    });
}

/** Flags that say how rows become edges. */
function withRowFlags(command: Command): Command {
  return command
    .option('--ts-column <name>', 'column or HIF attribute with the time (default event_ts, timestamp, date, when ...)')
    .option('--ts-format <format>', 's, ms, us, ns, iso, dmy or mdy (default: what the first rows look like)')
    .option('--member-columns <names>', 'columns with a node each, or lists with --separator; separated by commas')
    .option('--member-column <name>', 'column with a list of nodes (default members)')
    .option('--separator <text>', 'between the nodes of a list (--member-column: default ;)')
    .option('--member-ids <kind>', 'nodes are number or name (default: what the first rows look like)')
    .option('--property-columns <names>', 'columns that become properties (default: all others)')
    .option('--types <list>', 'types of columns, as in price=REAL,code=TEXT')
    .option('--delimiter <character>', 'between the cells of CSV (default: what the header has most of)');
}

function addQuery(program: Command, done: Done): void {
  withRunner(
    program
      .command('query')
      .description('Run one statement and show its rows.')
      .argument('<statement>', 'the statement, or - to read it from stdin'),
  )
    .option(
      '--param <name=json>',
      'value of a $name in the statement; once for each',
      (one: string, others: string[] = []) => [...others, one],
    )
    .action(async (statement: string, options: QueryFlags) => {
      done(await (await import('./query/command.ts')).queryCommand(statement, options, nodeWorld()));
    });
}

function addShell(program: Command, done: Done): void {
  withRunner(
    program
      .command('shell')
      .description('Run statements one after the other, on a terminal or from a script on stdin.'),
  ).action(async (options: ShellFlags) => {
    const { shellCommand } = await import('./shell/command.ts');
    done(await shellCommand(options, nodeWorld()));
  });
}

function addAnalyze(program: Command, done: Done): void {
  withRunner(
    program
      .command('analyze')
      .description('Compute a measure of a table as a hypergraph; without a table, list the measures.')
      .argument('[table]')
      .argument('[measure]'),
  )
    .option(
      '--param <name=value>',
      'a parameter of the measure; once for each',
      (one: string, others: string[] = []) => [...others, one],
    )
    .option('--params <json>', 'parameters as one JSON object')
    .action(async (table: string | undefined, measure: string | undefined, options: AnalyzeFlags) => {
      done(await (await import('./analyze/command.ts')).analyzeCommand(table, measure, options, nodeWorld()));
    });
}

function addVirtual(program: Command, done: Done): void {
  const virtual = program
    .command('virtual')
    .description('Virtual graphs of a running server: hypergraphs over DuckDB, Parquet, CSV, JSON and PostgreSQL.');
  for (const { name, about, args, flags } of VIRTUAL_USAGE) {
    const command = virtual.command(name).description(about);
    for (const [argument, meaning] of args) command.argument(argument, meaning);
    for (const [flag, meaning] of flags) command.option(flag, meaning);
    withServer(command, 'key').action(async (...given: unknown[]) => {
      // After the arguments commander gives the flags and the command.
      const options = given[args.length] as VirtualFlags;
      done(
        await (await import('./virtual/command.ts')).virtualCommand(
          name,
          given.slice(0, args.length) as (string | undefined)[],
          options,
          nodeWorld(),
        ),
      );
    });
  }
}

/** Flags that say where statements run and how their rows are shown. */
function withRunner(command: Command): Command {
  return withServerOrDirectory(command, 'key').option(
    '--format <format>',
    `${FORMATS.join(', ')} (default table on a terminal, else json)`,
  );
}

function addInspect(program: Command, done: Done): void {
  program
    .command('inspect')
    .description('Show what is in a log file, a manifest, a segment or a data directory. Only reads; a server may run.')
    .argument('<path...>')
    .option('--json', 'one JSON document a line for every path')
    .option('--limit <number>', 'of a log: frames to show, 0 = all (default 50)')
    .option('--rows <number>', 'of a segment: first and last rows to show (default 3)')
    .option('--deep', 'of a directory: read and check the segments whole')
    .action(async (paths: string[], options: InspectFlags) => {
      done(await (await import('./inspect/command.ts')).inspectCommand(paths, options, nodeWorld()));
    });
}

function addBackup(program: Command, done: Done): void {
  withServer(
    program.command('backup').description('Back up a running server, or a data directory that no server has open.'),
    'admin key',
  )
    .option('--backup-dir <dir>', 'on the server, below its backup root (default the root itself)')
    .option('--data <dir>', 'a data directory that no server has open; needs no key')
    .option('--to <dir>', 'with --data: where the backup goes')
    .option('--config <file>', 'with --data: the TOML file its server is started with')
    .option('--compact-first', 'compact all tables before')
    .action(async (options: BackupFlags) => {
      done(await (await import('./backup/command.ts')).backupCommand(options, nodeWorld()));
    });
}

function addRestore(program: Command, done: Done): void {
  program
    .command('restore')
    .description('Make a data directory from a backup. The file is checked first; when it fails, nothing is left.')
    .argument('<file>')
    .option('--data <dir>', 'the data directory to be: new or empty')
    .action(async (file: string, options: RestoreFlags) => {
      done(await (await import('./restore/command.ts')).restoreCommand(file, options, nodeWorld()));
    });
}

function addVerify(program: Command, done: Done): void {
  program
    .command('verify')
    .description('Check every byte of a data directory and name what is wrong. Only reads; a server may run.')
    .argument('<dir>')
    .option('--json', 'one JSON document')
    .action(async (dir: string, options: VerifyFlags) => {
      done(await (await import('./verify/command.ts')).verifyCommand(dir, options, nodeWorld()));
    });
}

function addCheckProof(program: Command, done: Done): void {
  program
    .command('check-proof')
    .description('Derive every conclusion of a proof, or of an answer with proofs, anew from its premises.')
    .argument('[file]', 'JSON; - or nothing: stdin')
    .option('--rules <file>', 'the rules it should follow from, as JSON')
    .action(async (file: string | undefined, options: CheckProofFlags) => {
      done(await (await import('./check-proof/command.ts')).checkProofCommand(file, options, nodeWorld()));
    });
}

function addMcp(program: Command, done: Done): void {
  withServerOrDirectory(
    program
      .command('mcp')
      .description('Offer a database to a language model as tools: the Model Context Protocol on stdin and stdout.'),
    'key',
  )
    .option('--allow-writes', 'offer inserts and statements that write too; a server wants a readwrite key for them')
    .action(async (options: McpFlags) => {
      done(await (await import('./mcp/command.ts')).mcpCommand(options, nodeWorld()));
    });
}

function addDemo(program: Command, done: Done): void {
  program
    .command('demo')
    .description('Make weeks of meetings between some thousand people and two rules, serve them, and say what to try.')
    .option('--data <dir>', 'where its own server keeps them (default hedgerow-demo)')
    .option('--port <number>', 'of its own server (default 8000, or the next free one)')
    .option('--open', 'show the console in a browser')
    .option('--no-serve', 'store everything, then stop')
    .option('--url <address>', 'a running server, instead of its own')
    .addOption(
      new Option('--api-key <key>', 'with --url: readwrite key, admin to make the table').env('HEDGEROW_API_KEY'),
    )
    .option('--table <name>', 'another name for the table (default meetings)')
    .option('--people <number>', 'how many people (default 3000)')
    .option('--days <number>', 'how many days, from Monday 2024-01-01 on (default 28)')
    .option('--seed <number>', 'the same seed makes the same meetings (default 1)')
    .action(async (options: DemoFlags) => {
      done(await (await import('./demo/command.ts')).demoCommand(options, nodeWorld()));
    });
}

/** Flags that say where edges go. */
function withTarget(command: Command): Command {
  return withServer(command, 'key')
    .option('--connections <number>', 'requests to the server at once (default 1, which keeps the order)')
    .option('--data <dir>', 'straight into a data directory that no server has open')
    .option('--max-members <number>', 'with --data: most members of an edge (HEDGEROW_MAX_MEMBERS, default 64)');
}
