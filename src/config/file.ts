// Reads a TOML configuration file into one text per setting. No other file uses smol-toml.

import { parse, TomlError } from 'smol-toml';
import { nearestName } from '../model/suggestions.ts';
import { ConfigError } from './config-error.ts';
import type { Kind } from './kinds.ts';
import { fileKeyOf, SETTING_NAMES, SETTINGS, type SettingName } from './settings.ts';

export interface ConfigFile {
  /** The file name as the user gave it. */
  name: string;
  text: string;
}

export interface FileValues {
  /** Texts in the same form as in environment variables. */
  settings: ReadonlyMap<SettingName, string>;
  /** Database addresses by upper-case name. */
  virtualDsn: ReadonlyMap<string, string>;
}

const DSN_TABLE = fileKeyOf('virtualDsn');

/**
 * Reads the settings in a file. Throws a ConfigError of one line that names the file and the key.
 * The message never repeats values from the file, which may be secrets.
 */
export function readFile({ name, text }: ConfigFile): FileValues {
  const names = new Map(SETTING_NAMES.map((setting) => [fileKeyOf(setting), setting]));
  const settings = new Map<SettingName, string>();
  let virtualDsn: ReadonlyMap<string, string> = new Map();
  for (const [key, value] of Object.entries(parsed(name, text))) {
    const setting = names.get(key);
    if (setting !== undefined) settings.set(setting, textOf(name, key, value, SETTINGS[setting].kind));
    else if (key === DSN_TABLE) virtualDsn = dsnsOf(name, value);
    else throw new ConfigError(`${name}: ${key} is not a setting${hint(key, [...names.keys(), DSN_TABLE])}`);
  }
  return { settings, virtualDsn };
}

/** Returns `; did you mean port?`, or an empty text if no known name is similar. */
export function hint(name: string, known: readonly string[]): string {
  const near = nearestName(name, known);
  return near === undefined ? '' : `; did you mean ${near}?`;
}

function parsed(name: string, text: string): Record<string, unknown> {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const what = error.message.split('\n')[0]!.replace(/^Invalid TOML document: /, '');
    throw new ConfigError(`${name}: line ${error.line}, column ${error.column} is not TOML: ${what}.`);
  }
}

function textOf(file: string, key: string, value: unknown, kind: Kind<unknown>): string {
  const forms: Record<Kind<unknown>['form'], () => string | undefined> = {
    string: () => (typeof value === 'string' ? value : undefined),
    number: () => (typeof value === 'number' ? String(value) : undefined),
    boolean: () => (typeof value === 'boolean' || value === 0 || value === 1 ? String(value) : undefined),
    list: () => (Array.isArray(value) && value.every(isPlainPart) ? value.join(',') : undefined),
  };
  const text = forms[kind.form]();
  if (text !== undefined) return text;
  const form = kind.form === 'list' ? 'a list of strings' : `a ${kind.form}`;
  throw new ConfigError(`${file}: ${key} has another type, but it takes ${form}: ${kind.takes}.`);
}

/** Returns true for a text without commas: a comma would split the part in two. */
function isPlainPart(part: unknown): boolean {
  return typeof part === 'string' && !part.includes(',');
}

function dsnsOf(file: string, value: unknown): Map<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ConfigError(
      `${file}: ${DSN_TABLE} takes a table of texts: [${DSN_TABLE}] and lines such as name = "...".`,
    );
  }
  const dsns = new Map<string, string>();
  for (const [key, dsn] of Object.entries(value)) {
    const name = key.toUpperCase();
    if (!/^[A-Z0-9_]+$/.test(name)) {
      throw new ConfigError(`${file}: ${DSN_TABLE}.${key} takes a name of letters, digits and _.`);
    }
    if (typeof dsn !== 'string' || dsn === '') throw new ConfigError(`${file}: ${DSN_TABLE}.${key} takes a text.`);
    if (dsns.has(name)) throw new ConfigError(`${file}: ${DSN_TABLE}.${key} is set twice.`);
    dsns.set(name, dsn);
  }
  return dsns;
}
