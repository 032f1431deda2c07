// Defines what all commands share: the command line library, which only this file imports, and the
// flags that several commands take.

import { type Command, Option } from 'commander';
import { flagOf, SETTING_NAMES, SETTINGS, variableOf } from '../config.ts';
import type { SettingFlags } from './config/load.ts';
import { DEFAULT_URL } from './server-address.ts';
import type { World } from './world.ts';

export { Command, CommanderError, Option } from 'commander';

/** What the action of a command receives besides the flags. */
export interface Host {
  readonly world: World;
  /**
   * The world of commands that run until a signal ends them. Their exit code tells whether they
   * shut down cleanly, not that a signal arrived.
   */
  readonly serverWorld: World;
  /** Receives the exit code. */
  done(exitCode: number): void;
}

export function withServer(command: Command, key: string): Command {
  return command
    .option('--url <address>', `a running server (default ${DEFAULT_URL})`)
    .addOption(new Option('--api-key <key>', `${key} for the server`).env('HEDGEROW_API_KEY'));
}

export function withServerOrDirectory(command: Command, key: string): Command {
  return withServer(command, key)
    .option('--data <dir>', 'a data directory that no server has open; needs no key')
    .option('--config <file>', 'with --data: the TOML file with the settings of its server');
}

/** The flags by name; `true` means that the flag was given without a value. */
export type Options = Readonly<Record<string, string | true | undefined>>;

/** Adds a flag for every setting. A switch that is given without a value means "on". */
export function withSettings(command: Command): Command {
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
In the file, settings have the names that config print shows, such as data_dir = "...".
Databases of virtual graphs: HEDGEROW_VIRTUAL_DSN_<NAME>, or [virtual_dsn] in the file.
Other users of this machine can see flags: put secrets into the environment or the file.`;

export function settingFlags(options: Options): SettingFlags {
  const value = (flag: string): string | undefined => {
    const given = options[camelCase(flag)];
    return given === true ? '1' : given;
  };
  return {
    config: value('config'),
    settings: Object.fromEntries(SETTING_NAMES.map((name) => [name, value(flagOf(name))])),
  };
}

/** Turns `tls-cert` into `tlsCert`, the name under which commander stores the value. */
function camelCase(flag: string): string {
  return flag.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
