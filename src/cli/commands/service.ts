// Defines the commands that run or set up a service: serve, serve-virtual, mcp, demo, keys, config.

import {
  type Command,
  type Host,
  Option,
  type Options,
  settingFlags,
  withServerOrDirectory,
  withSettings,
} from '../command-line.ts';
import type { DemoFlags } from '../demo/command.ts';
import type { HaFlags } from '../ha/command.ts';
import type { CreateFlags, KeysFlags } from '../keys/command.ts';
import type { McpFlags } from '../mcp/command.ts';
import type { ServeVirtualFlags } from '../serve-virtual.ts';

export function addServe(program: Command, { done, serverWorld }: Host): void {
  withSettings(
    program.command('serve').description('Serve a data directory over HTTP until SIGINT or SIGTERM.'),
  ).action(async (options: Options) => {
    done(await (await import('../serve.ts')).serve(settingFlags(options), serverWorld));
  });
}

export function addServeVirtual(program: Command, { done, serverWorld }: Host): void {
  program
    .command('serve-virtual')
    .description('Serve virtual graphs alone, without keys and without a database, to this machine: for development.')
    .option('--spec-dir <dir>', 'specs as JSON files, one per graph, named <id>.json; read at the start')
    .option('--root <dir>', 'folder with the files of backends (default: the folder of the specs)')
    .option('--host <address>', 'an address of this machine only (default 127.0.0.1)')
    .option('--port <number>', 'default 8000')
    .option('--config <file>', 'TOML file; only its settings for logs, language models and virtual graphs are used')
    .addHelpText('after', SERVE_VIRTUAL_HELP)
    .action(async (options: ServeVirtualFlags) => {
      done(await (await import('../serve-virtual.ts')).serveVirtual(options, serverWorld));
    });
}

const SERVE_VIRTUAL_HELP = `
Routes: /v1/virtual/* (all but materialize), /health/live, /health/ready, /openapi.json, /docs.
Creating, replacing or deleting a graph changes its file in the folder at once.
Databases: HEDGEROW_VIRTUAL_DSN_<NAME>. Files such as data.json must not lie beside the specs: put them into a folder below.`;

export function addConfig(program: Command, { done, world }: Host): void {
  const config = program.command('config').description('The settings of the service.');
  withSettings(config.command('print').description('Show every setting and where it comes from; secrets are masked.'))
    .option('--json', 'one JSON object')
    .action(async (options: Options) => {
      const flags = { ...settingFlags(options), json: options.json !== undefined };
      done((await import('../config/command.ts')).configPrintCommand(flags, world));
    });
}

export function addHa(program: Command, { done, world }: Host): void {
  const ha = program
    .command('ha')
    .description('High availability: the log in PostgreSQL that several servers share, of which one leads.');
  withLog(ha.command('init').description('Make the tables of the log, or bring them up to date.')).action(
    async (options: HaFlags) => {
      done(await (await import('../ha/command.ts')).haInitCommand(options, world));
    },
  );
  withLog(
    ha.command('status').description('Show who leads, how far every server is, the log and its snapshot.'),
  ).action(async (options: HaFlags) => {
    done(await (await import('../ha/command.ts')).haStatusCommand(options, world));
  });
}

function withLog(command: Command): Command {
  return command
    .option('--log-dsn <dsn>', 'postgres://user:password@host:port/database (HEDGEROW_LOG_DSN)')
    .option('--config <file>', 'TOML file with the settings of a server')
    .option('--json', 'write JSON');
}

export function addKeys(program: Command, { done, world }: Host): void {
  const keys = program
    .command('keys')
    .description('API keys of a running server, or of a directory no server has open.');
  withKeysFlags(keys.command('create').description('Create a key and show it. It cannot be shown again.'))
    .option('--role <role>', 'readonly, readwrite or admin')
    .option('--description <text>', 'what the key is for')
    .option('--expires-days <number>', 'days until it expires, fractions too (default: it does not)')
    .action(async (options: CreateFlags) => {
      done(await (await import('../keys/command.ts')).keysCreateCommand(options, world));
    });
  withKeysFlags(keys.command('list').description('List the keys that are not revoked.')).action(
    async (options: KeysFlags) => {
      done(await (await import('../keys/command.ts')).keysListCommand(options, world));
    },
  );
  withKeysFlags(keys.command('revoke').description('Revoke a key, at once and for good.').argument('<key_id>')).action(
    async (keyId: string, options: KeysFlags) => {
      done(await (await import('../keys/command.ts')).keysRevokeCommand(keyId, options, world));
    },
  );
}

function withKeysFlags(command: Command): Command {
  return withServerOrDirectory(command, 'admin key').option('--json', 'write JSON');
}

export function addMcp(program: Command, { done, serverWorld }: Host): void {
  withServerOrDirectory(
    program
      .command('mcp')
      .description('Offer a database to a language model as tools: the Model Context Protocol on stdin and stdout.'),
    'key',
  )
    .option(
      '--allow-writes',
      'also offer inserts and statements that write; a server requires a readwrite key for them',
    )
    .action(async (options: McpFlags) => {
      done(await (await import('../mcp/command.ts')).mcpCommand(options, serverWorld));
    });
}

export function addDemo(program: Command, { done, world }: Host): void {
  program
    .command('demo')
    .description(
      'Serve a generated town: people with names, their homes over the years, some weeks of meetings, and rules; suggest what to try.',
    )
    .option('--data <dir>', 'data directory of its own server (default hedgerow-demo)')
    .option('--port <number>', 'port of its own server (default 8000, or the next free one)')
    .option('--open', 'show the console in a browser')
    .option('--no-serve', 'store everything, then stop')
    .option('--url <address>', 'a running server, instead of its own')
    .addOption(
      new Option('--api-key <key>', 'with --url: readwrite key, admin to make the table').env('HEDGEROW_API_KEY'),
    )
    .option(
      '--table <name>',
      'another name for the table of meetings (default meetings); the names of the other tables then begin with it',
    )
    .option('--people <number>', 'how many people (default 3000)')
    .option('--days <number>', 'how many days, from Monday 2024-03-04 on (default 28)')
    .option('--seed <number>', 'the same seed makes the same town (default 1)')
    .action(async (options: DemoFlags) => {
      done(await (await import('../demo/command.ts')).demoCommand(options, world));
    });
}
