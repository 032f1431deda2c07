// Defines the commands of `hedgerow virtual`, as VIRTUAL_USAGE lists them.

import { type Command, type Host, withServer } from '../command-line.ts';
import type { VirtualFlags } from '../virtual/command.ts';
import { VIRTUAL_USAGE } from '../virtual/usage.ts';

export function addVirtual(program: Command, { done, world }: Host): void {
  const virtual = program
    .command('virtual')
    .description('Virtual graphs of a running server: hypergraphs over DuckDB, Parquet, CSV, JSON and PostgreSQL.');
  for (const { name, about, args, flags } of VIRTUAL_USAGE) {
    const command = virtual.command(name).description(about);
    for (const [argument, meaning] of args) command.argument(argument, meaning);
    for (const [flag, meaning] of flags) command.option(flag, meaning);
    withServer(command, 'key').action(async (...given: unknown[]) => {
      // Commander passes the arguments first, then the flags and the command.
      const options = given[args.length] as VirtualFlags;
      done(
        await (await import('../virtual/command.ts')).virtualCommand(
          name,
          given.slice(0, args.length) as (string | undefined)[],
          options,
          world,
        ),
      );
    });
  }
}
