// Reads the settings of the service: flags take precedence over the environment, the environment
// over the file, and the file over the defaults.

import { ConfigError } from './config/config-error.ts';
import { type ConfigFile, type FileValues, hint, readFile } from './config/file.ts';
import { apparentBits, ENOUGH_BITS } from './config/key-strength.ts';
import { isLoopback } from './config/kinds.ts';
import {
  type Basis,
  type Config,
  DSN_VARIABLE,
  fileKeyOf,
  flagOf,
  SETTING_NAMES,
  SETTINGS,
  type SettingName,
  variableOf,
} from './config/settings.ts';

export { ConfigError } from './config/config-error.ts';
export type { ConfigFile } from './config/file.ts';
export { isLoopback } from './config/kinds.ts';
export { messageWithSettings } from './config/setting-names.ts';
export {
  type Config,
  fileKeyOf,
  flagOf,
  SETTING_NAMES,
  SETTINGS,
  type SettingName,
  variableOf,
} from './config/settings.ts';

/** Values of flags by setting; undefined if a flag was not given. */
export type ConfigFlags = Readonly<Partial<Record<SettingName, string | undefined>>>;

/** The inputs from which the settings are read. */
export interface Surroundings {
  environment: Readonly<Record<string, string | undefined>>;
  flags?: ConfigFlags;
  file?: ConfigFile | undefined;
  isTerminal: boolean;
}

export type Source = 'flag' | 'env' | 'file' | 'default';

export interface LoadedConfig {
  config: Config;
  /**
   * The origin of each value, by the name of the setting in a file (`data_dir`, `virtual_dsn.PG`).
   */
  sources: ReadonlyMap<string, Source>;
  /** Warnings to be logged: about names that look misspelt, insecure exposure and weak keys. */
  warnings: string[];
}

/** Reads and checks all settings. Throws ConfigError. */
export function loadConfig(surroundings: Surroundings): LoadedConfig {
  const { environment, isTerminal } = surroundings;
  const file = surroundings.file === undefined ? undefined : readFile(surroundings.file);
  const sources = new Map<string, Source>();
  const values: Partial<Record<SettingName, unknown>> = {};
  const basis: Basis = { dataDir: '', isTerminal };
  for (const name of SETTING_NAMES) {
    const given = givenFor(name, surroundings, file);
    values[name] = given === undefined ? SETTINGS[name].initial(basis) : parsed(name, given);
    // `dataDir` is the first setting in the table, since the defaults of other settings are below
    // the data directory.
    if (name === 'dataDir') basis.dataDir = values[name] as string;
    sources.set(fileKeyOf(name), given?.source ?? 'default');
  }
  const virtualDsn = dsnsOf(environment, file, sources);
  const config = { ...values, virtualDsn } as Config;
  checkTls(config);
  checkWorkers(config);
  checkLog(config);
  const warnings = [...unknownNames(environment), ...exposure(config), ...weakKey(config), ...plainLeader(config)];
  return { config, sources, warnings };
}

interface Given {
  text: string;
  source: Source;
  /** The name of the flag, variable or entry of the file, for messages. */
  place: string;
}

/**
 * Returns the text given for a setting, or undefined if it is not set. An empty variable counts as
 * not set; an empty flag or an empty string in the file counts as a value.
 */
function givenFor(name: SettingName, surroundings: Surroundings, file: FileValues | undefined): Given | undefined {
  const flag = surroundings.flags?.[name];
  if (flag !== undefined) return { text: flag, source: 'flag', place: `--${flagOf(name)}` };
  const variable = variableOf(name);
  const value = surroundings.environment[variable];
  if (value !== undefined && value !== '') return { text: value, source: 'env', place: variable };
  const text = file?.settings.get(name);
  if (text === undefined) return undefined;
  return { text, source: 'file', place: `${surroundings.file?.name}: ${fileKeyOf(name)}` };
}

function parsed(name: SettingName, { text, place }: Given): unknown {
  const { kind, secret } = SETTINGS[name];
  const value = kind.parse(text);
  if (value !== undefined) return value;
  const what = secret ? 'has a value that cannot be used' : `is ${JSON.stringify(withoutPassword(text))}`;
  throw new ConfigError(`${place} ${what}, but it takes ${kind.takes}.`);
}

function withoutPassword(text: string): string {
  return text.replace(/\/\/[^/@]*@/g, '//***@');
}

function dsnsOf(
  environment: Surroundings['environment'],
  file: FileValues | undefined,
  sources: Map<string, Source>,
): Record<string, string> {
  const dsns: Record<string, string> = {};
  const take = (name: string, dsn: string, source: Source) => {
    dsns[name] = dsn;
    sources.set(`${fileKeyOf('virtualDsn')}.${name}`, source);
  };
  for (const [name, dsn] of file?.virtualDsn ?? []) take(name, dsn, 'file');
  for (const [variable, dsn] of Object.entries(environment)) {
    const name = variable.startsWith(DSN_VARIABLE) ? variable.slice(DSN_VARIABLE.length).toUpperCase() : '';
    if (name !== '' && dsn !== undefined && dsn !== '') take(name, dsn, 'env');
  }
  return dsns;
}

function checkTls({ tlsCert, tlsKey }: Config): void {
  if ((tlsCert === undefined) === (tlsKey === undefined)) return;
  const [set, missing]: [SettingName, SettingName] =
    tlsKey === undefined ? ['tlsCert', 'tlsKey'] : ['tlsKey', 'tlsCert'];
  throw new ConfigError(`${variableOf(set)} is set, but ${variableOf(missing)} is not: TLS needs both or none.`);
}

/** Checks that only a server that always leads has workers. Throws ConfigError. */
function checkWorkers({ workers, follow, log }: Config): void {
  if (workers === 0) return;
  const own = variableOf('workers');
  const advice = 'Start several servers instead, which answer reads too.';
  if (follow !== undefined)
    throw new ConfigError(
      `${own} and ${variableOf('follow')} are set: a server that follows another one has no workers. ${advice}`,
    );
  if (log === 'postgres')
    throw new ConfigError(
      `${own} is set, and ${variableOf('log')} is postgres: a server that shares its log has no workers. ${advice}`,
    );
}

/** Checks the settings of a log in PostgreSQL. Throws ConfigError. */
function checkLog(config: Config): void {
  const { log, logDsn, follow, durability, changesKeepSeconds } = config;
  const own = (['logDsn', 'advertiseUrl', 'snapshotDir'] as const).find((name) => config[name] !== undefined);
  if (log === 'files') {
    if (own === undefined) return;
    throw new ConfigError(`${variableOf(own)} is set, but ${variableOf('log')} is not postgres.`);
  }
  const isPostgres = `${variableOf('log')} is postgres`;
  if (logDsn === undefined)
    throw new ConfigError(`${isPostgres}, but ${variableOf('logDsn')} is not set: it names the database with the log.`);
  if (!/^postgres(ql)?:\/\/./.test(logDsn))
    throw new ConfigError(`${variableOf('logDsn')} must be postgres://user:password@host:port/database.`);
  if (follow !== undefined)
    throw new ConfigError(
      `${isPostgres}, and ${variableOf('follow')} is set: a server follows either one or the other.`,
    );
  if (durability !== 'fsync') throw new ConfigError(`${isPostgres}, so ${variableOf('durability')} must be fsync.`);
  if (changesKeepSeconds === 0)
    throw new ConfigError(`${isPostgres}, so ${variableOf('changesKeepSeconds')} must be above 0.`);
}

/** Warns if the key of the leader is sent in plain text over a network. */
function plainLeader({ follow, followKey, forwardWrites }: Config): string[] {
  if (follow === undefined) {
    const [name] = (['followKey', 'forwardWrites'] as const).filter((each) =>
      each === 'followKey' ? followKey : forwardWrites,
    );
    if (name === undefined) return [];
    throw new ConfigError(
      `${variableOf(name)} is set, but ${variableOf('follow')} is not: it names the server to follow.`,
    );
  }
  const { protocol, hostname } = new URL(follow);
  if (protocol === 'https:' || isLoopback(hostname)) return [];
  return [
    `${variableOf('follow')} is an http address: the admin key of the leader and all data are sent unencrypted. Use https outside a private network.`,
  ];
}

/**
 * Checks the address to listen on. With keys, the service may listen anywhere. Without keys, it may
 * listen on local addresses only, unless `allowInsecure` is set. Returns warnings; throws
 * ConfigError.
 */
function exposure({ host, authDisabled, allowInsecure, tlsCert }: Config): string[] {
  const isOpen = !isLoopback(host);
  if (!authDisabled) {
    return isOpen && tlsCert === undefined
      ? [
          `${host} can be reached from other machines without TLS: keys and data are sent unencrypted. Set HEDGEROW_TLS_CERT and HEDGEROW_TLS_KEY, or put a proxy with TLS before it.`,
        ]
      : [];
  }
  if (isOpen && !allowInsecure) {
    throw new ConfigError(
      `HEDGEROW_HOST is ${JSON.stringify(host)}, which other machines can reach, but with HEDGEROW_AUTH_DISABLED=1 requests need no key. Use 127.0.0.1, turn keys on, or set HEDGEROW_ALLOW_INSECURE=1.`,
    );
  }
  return [
    isOpen
      ? `Requests need no key, and ${host} can be reached from other machines.`
      : 'Requests need no key: anyone on this machine can read and write.',
  ];
}

function weakKey({ apiKey }: Config): string[] {
  if (apiKey === undefined) return [];
  const bits = apparentBits(apiKey);
  if (bits >= ENOUGH_BITS) return [];
  return [
    `HEDGEROW_API_KEY looks as if it had about ${bits} bits of randomness, fewer than ${ENOUGH_BITS}, and could be guessed. \`openssl rand -hex 20\` makes a better one; without HEDGEROW_API_KEY the first start of a data directory makes its own.`,
  ];
}

function unknownNames(environment: Surroundings['environment']): string[] {
  const known = SETTING_NAMES.map(variableOf);
  const isUnknown = (name: string) =>
    name.startsWith('HEDGEROW_') && !name.startsWith(DSN_VARIABLE) && !known.includes(name);
  return Object.keys(environment)
    .filter(isUnknown)
    .map((name) => `${name} is not a setting of this service${hint(name, known)}`);
}
