// Reads the settings of the service; the only file that looks at the environment (contract section 7).

import { totalmem } from 'node:os';
import { DEFAULT_MAX_MEMBERS, DEFAULT_PRIMARY_TABLE, FORMAT_MAX_MEMBERS, IDENTIFIER, MEGABYTE } from './limits.ts';
import { LOG_LEVELS, type LogLevel } from './observe/log.ts';

export interface Config {
  dataDir: string;
  host: string;
  port: number;
  authDisabled: boolean;
  allowInsecure: boolean;
  durability: 'fsync' | 'async';
  memoryBudgetMb: number;
  maxBodyMb: number;
  maxMembers: number;
  primaryTable: string;
  logFormat: 'text' | 'json';
  logLevel: LogLevel;
}

/** What the caller knows about where the process runs. */
export interface Surroundings {
  environment: Readonly<Record<string, string | undefined>>;
  /** Values of flags by setting name; undefined: not given. */
  flags?: Readonly<Partial<Record<keyof Config, string | undefined>>>;
  isTerminal: boolean;
}

export interface LoadedConfig {
  config: Config;
  /** Worth a line in the log: names that look misspelt, open doors. */
  warnings: string[];
}

/** A setting that cannot be used: one line that names it, its value and what it takes. */
export class ConfigError extends Error {}

export function loadConfig(surroundings: Surroundings): LoadedConfig {
  const { isTerminal } = surroundings;
  const config: Config = {
    dataDir: read(surroundings, 'dataDir', nonEmpty) ?? './data',
    host: read(surroundings, 'host', nonEmpty) ?? '127.0.0.1',
    port: read(surroundings, 'port', integer(0, 65535)) ?? 8000,
    authDisabled: read(surroundings, 'authDisabled', switchValue) ?? false,
    allowInsecure: read(surroundings, 'allowInsecure', switchValue) ?? false,
    durability: read(surroundings, 'durability', oneOf(['fsync', 'async'])) ?? 'fsync',
    memoryBudgetMb: read(surroundings, 'memoryBudgetMb', integer(1, 2 ** 30)) ?? halfOfMemory(),
    maxBodyMb: read(surroundings, 'maxBodyMb', number(0.001, 2047)) ?? 64,
    maxMembers: read(surroundings, 'maxMembers', integer(1, FORMAT_MAX_MEMBERS)) ?? DEFAULT_MAX_MEMBERS,
    primaryTable: read(surroundings, 'primaryTable', identifier) ?? DEFAULT_PRIMARY_TABLE,
    logFormat: read(surroundings, 'logFormat', oneOf(['text', 'json'])) ?? (isTerminal ? 'text' : 'json'),
    logLevel: read(surroundings, 'logLevel', oneOf(LOG_LEVELS)) ?? 'info',
  };
  const warnings = unknownNames(surroundings.environment);
  checkExposure(config, warnings);
  return { config, warnings };
}

/** Variable of each setting. */
const VARIABLES: Readonly<Record<keyof Config, string>> = {
  dataDir: 'HEDGEROW_DATA_DIR',
  host: 'HEDGEROW_HOST',
  port: 'HEDGEROW_PORT',
  authDisabled: 'HEDGEROW_AUTH_DISABLED',
  allowInsecure: 'HEDGEROW_ALLOW_INSECURE',
  durability: 'HEDGEROW_DURABILITY',
  memoryBudgetMb: 'HEDGEROW_MEMORY_BUDGET_MB',
  maxBodyMb: 'HEDGEROW_MAX_BODY_MB',
  maxMembers: 'HEDGEROW_MAX_MEMBERS',
  primaryTable: 'HEDGEROW_PRIMARY_TABLE',
  logFormat: 'HEDGEROW_LOG_FORMAT',
  logLevel: 'HEDGEROW_LOG_LEVEL',
};

/** Names of the contract that later versions read; known so that they are not called misspelt. */
const LATER_VARIABLES: readonly string[] = [
  'HEDGEROW_TLS_CERT',
  'HEDGEROW_TLS_KEY',
  'HEDGEROW_API_KEY',
  'HEDGEROW_RATE_LIMIT_QPM',
  'HEDGEROW_AUDIT_LOG',
  'HEDGEROW_QUERY_TIMEOUT_MS',
  'HEDGEROW_TRANSACTION_IDLE_SECONDS',
  'HEDGEROW_BACKUP_ROOT',
  'HEDGEROW_COPY_ROOT',
  'HEDGEROW_VIRTUAL_ROOT',
  'HEDGEROW_VIRTUAL_CACHE',
  'HEDGEROW_LLM_BASE_URL',
  'HEDGEROW_LLM_MODEL',
  'HEDGEROW_LLM_ALLOWED_HOSTS',
  'HEDGEROW_CORS_ORIGINS',
];

interface Kind<T> {
  /** Undefined: not a value of this kind. */
  parse(text: string): T | undefined;
  /** Completes "it takes ...". */
  takes: string;
}

/** The value of a setting: flag before environment; an empty variable counts as not set. */
function read<T>(surroundings: Surroundings, setting: keyof Config, kind: Kind<T>): T | undefined {
  const flag = surroundings.flags?.[setting];
  const variable = VARIABLES[setting];
  const text = flag ?? surroundings.environment[variable];
  if (text === undefined || (flag === undefined && text === '')) return undefined;
  const value = kind.parse(text);
  if (value !== undefined) return value;
  throw new ConfigError(
    `${variable} is ${JSON.stringify(text)}${flag === undefined ? '' : ' (given as a flag)'}, but it takes ${kind.takes}.`,
  );
}

const nonEmpty: Kind<string> = { parse: (text) => (text === '' ? undefined : text), takes: 'a text that is not empty' };
const identifier: Kind<string> = {
  parse: (text) => (IDENTIFIER.test(text) ? text : undefined),
  takes: 'a name of letters, digits and _ that starts with no digit',
};
const switchValue: Kind<boolean> = {
  parse: (text) => (text === '1' || text === 'true' ? true : text === '0' || text === 'false' ? false : undefined),
  takes: '1 or 0',
};

function oneOf<T extends string>(values: readonly T[]): Kind<T> {
  return { parse: (text) => values.find((value) => value === text), takes: values.join(', ') };
}

function integer(least: number, most: number): Kind<number> {
  return {
    parse: (text) => (/^\d{1,15}$/.test(text) && inRange(Number(text), least, most) ? Number(text) : undefined),
    takes: `an integer from ${least} to ${most}`,
  };
}

function number(least: number, most: number): Kind<number> {
  return {
    parse: (text) =>
      /^\d{1,15}(\.\d{1,15})?$/.test(text) && inRange(Number(text), least, most) ? Number(text) : undefined,
    takes: `a number from ${least} to ${most}`,
  };
}

function inRange(value: number, least: number, most: number): boolean {
  return value >= least && value <= most;
}

/** Half of the machine's memory, or of what a container allows. */
function halfOfMemory(): number {
  const constrained = process.constrainedMemory();
  const bytes = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return Math.max(1, Math.floor(bytes / 2 / MEGABYTE));
}

/** This version asks for no key, so it stays on this machine unless told otherwise. */
function checkExposure(config: Config, warnings: string[]): void {
  const isOpen = !isLoopback(config.host);
  if (isOpen && !config.allowInsecure) {
    throw new ConfigError(
      `HEDGEROW_HOST is ${JSON.stringify(config.host)}, which other machines can reach, but requests need no key. Use 127.0.0.1, or set HEDGEROW_ALLOW_INSECURE=1.`,
    );
  }
  warnings.push(
    isOpen
      ? `Requests need no key, and ${config.host} can be reached from other machines.`
      : 'Requests need no key: anyone on this machine can read and write.',
  );
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
}

function unknownNames(environment: Surroundings['environment']): string[] {
  const known = [...Object.values(VARIABLES), ...LATER_VARIABLES];
  return Object.keys(environment)
    .filter(
      (name) => name.startsWith('HEDGEROW_') && !name.startsWith('HEDGEROW_VIRTUAL_DSN_') && !known.includes(name),
    )
    .map((name) => {
      const near = known.find((other) => differences(name, other) <= 2);
      return `${name} is no setting of this service${near === undefined ? '' : `; did you mean ${near}?`}`;
    });
}

/** Edit distance: insertions, deletions and changes of one character. */
function differences(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}
