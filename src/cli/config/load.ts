// The settings of a command: its flags, the environment and the file that --config names.

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { ConfigError, type ConfigFile, type ConfigFlags, type LoadedConfig, loadConfig } from '../../config.ts';
import type { World } from '../world.ts';

export interface SettingFlags {
  /** `--config`. */
  config: string | undefined;
  settings: ConfigFlags;
}

/** Throws ConfigError. */
export function loadSettings({ config, settings }: SettingFlags, world: World): LoadedConfig {
  return loadConfig({
    environment: world.environment,
    flags: settings,
    file: config === undefined ? undefined : readConfigFile(config, world),
    isTerminal: world.stderr.isTTY === true,
  });
}

function readConfigFile(name: string, world: World): ConfigFile {
  try {
    return { name, text: readFileSync(resolve(world.cwd, name), 'utf8') };
  } catch (error) {
    throw new ConfigError(`The configuration file ${name} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}
