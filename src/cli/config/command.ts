// `hedgerow config print`: prints every setting with its value and origin, and masks secrets.

import { type Config, fileKeyOf, type LoadedConfig, SETTING_NAMES, SETTINGS, type SettingName } from '../../config.ts';
import { tableText } from '../table-text.ts';
import { reportFailure, type World } from '../world.ts';
import { loadSettings, type SettingFlags } from './load.ts';

export interface ConfigPrintFlags extends SettingFlags {
  json: boolean;
}

type Value = string | number | boolean | readonly string[] | null;

const MASK = '***';

/**
 * Returns the exit code: 0 on success, 1 when the file cannot be read, 2 when a setting is not
 * accepted.
 */
export function configPrintCommand(flags: ConfigPrintFlags, world: World): number {
  let loaded: LoadedConfig;
  try {
    loaded = loadSettings(flags, world);
  } catch (error) {
    return reportFailure(world, error);
  }
  for (const warning of loaded.warnings) world.stderr.write(`hedgerow: ${warning}\n`);
  const values = shownValues(loaded.config);
  const rows = values.map(([key, value]) => ({ key, value, source: loaded.sources.get(key) ?? 'default' }));
  if (flags.json) {
    const object = Object.fromEntries(rows.map(({ key, value, source }) => [key, { value, source }]));
    world.stdout.write(`${JSON.stringify(object, null, 2)}\n`);
  } else {
    const cells = rows.map(({ key, value, source }) => [key, textOf(value), source]);
    world.stdout.write(tableText(['setting', 'value', 'source'], cells));
  }
  return 0;
}

function shownValues(config: Config): [string, Value][] {
  const values = SETTING_NAMES.map((name): [string, Value] => [fileKeyOf(name), shownValue(config, name)]);
  // Addresses of databases contain passwords.
  const dsns = Object.keys(config.virtualDsn).map((name): [string, Value] => [
    `${fileKeyOf('virtualDsn')}.${name}`,
    MASK,
  ]);
  return [...values, ...dsns];
}

function shownValue(config: Config, name: SettingName): Value {
  const value = config[name] ?? null;
  return SETTINGS[name].secret && value !== null ? MASK : value;
}

function textOf(value: Value): string {
  if (value === null) return '-';
  return Array.isArray(value) ? value.join(', ') || '-' : String(value);
}
