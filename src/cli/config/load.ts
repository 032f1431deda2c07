// Loads the settings of a command from its flags, the environment and the file of `--config`.

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { ConfigError, type ConfigFile, type ConfigFlags, type LoadedConfig, loadConfig } from '../../config.ts';
import { UsageError, type World } from '../world.ts';

export interface SettingFlags {
  /** The value of `--config`. */
  config: string | undefined;
  settings: ConfigFlags;
}

/**
 * Throws UsageError for a value that is not accepted, whatever its origin, and ConfigError for a
 * file that cannot be read.
 */
export function loadSettings({ config, settings }: SettingFlags, world: World): LoadedConfig {
  const file = config === undefined ? undefined : readConfigFile(config, world);
  try {
    return loadConfig({
      environment: world.environment,
      flags: settings,
      file,
      isTerminal: world.stderr.isTTY === true,
    });
  } catch (error) {
    throw error instanceof ConfigError ? new UsageError(error.message) : error;
  }
}

function readConfigFile(name: string, world: World): ConfigFile {
  try {
    return { name, text: readFileSync(resolve(world.cwd, name), 'utf8') };
  } catch (error) {
    throw new ConfigError(`The configuration file ${name} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}
