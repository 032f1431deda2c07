// The table of all settings. The environment variables, the file, the flags, the help and `config
// print` are derived from this table, so that they cannot disagree.

import { totalmem } from 'node:os';
import { join } from 'node:path';
import {
  DEFAULT_HISTORY,
  DEFAULT_MAX_MEMBERS,
  DEFAULT_PRIMARY_TABLE,
  FORMAT_MAX_MEMBERS,
  MEGABYTE,
} from '../limits.ts';
import { LOG_LEVELS, type LogLevel } from '../observe/log.ts';
import {
  addressesKind,
  baseUrlKind,
  hostPortsKind,
  hostsKind,
  identifierKind,
  integerKind,
  type Kind,
  numberKind,
  oneOf,
  originsKind,
  secretKind,
  serverUrlKind,
  switchKind,
  textKind,
  workersKind,
} from './kinds.ts';

export interface Config {
  dataDir: string;
  host: string;
  port: number;
  tlsCert: string | undefined;
  tlsKey: string | undefined;
  transport: 'auto' | 'uws' | 'node';
  /** Number of processes that serve the port beside the one that writes; 0: it serves alone. */
  workers: number;
  apiKey: string | undefined;
  authDisabled: boolean;
  allowInsecure: boolean;
  rateLimitQpm: number;
  corsOrigins: readonly string[];
  publicHosts: readonly string[];
  socketsPerAddress: number;
  proxyAddresses: readonly string[];
  logFormat: 'text' | 'json';
  logLevel: LogLevel;
  auditLog: string;
  durability: 'fsync' | 'async';
  memoryBudgetMb: number;
  maxBodyMb: number;
  maxMembers: number;
  primaryTable: string;
  queryTimeoutMs: number;
  streamMaxSeconds: number;
  changesKeepSeconds: number;
  changesKeepMb: number;
  follow: string | undefined;
  followKey: string | undefined;
  forwardWrites: boolean;
  log: 'files' | 'postgres';
  logDsn: string | undefined;
  advertiseUrl: string | undefined;
  snapshotDir: string | undefined;
  snapshotLogMb: number;
  transactionIdleSeconds: number;
  backupRoot: string;
  copyRoot: string | undefined;
  virtualRoot: string;
  virtualCache: boolean;
  /** Database addresses by the upper-case NAME of `HEDGEROW_VIRTUAL_DSN_<NAME>`. */
  virtualDsn: Readonly<Record<string, string>>;
  llmBaseUrl: string;
  llmModel: string;
  llmAllowedHosts: readonly string[];
  openaiApiKey: string | undefined;
}

/** All settings except the family `virtualDsn`, whose names the user chooses. */
export type SettingName = Exclude<keyof Config, 'virtualDsn'>;

/** The facts on which defaults may depend. */
export interface Basis {
  dataDir: string;
  /** True if log lines are written to a terminal. */
  isTerminal: boolean;
}

export interface Setting<T> {
  readonly kind: Kind<T>;
  readonly initial: (basis: Basis) => T;
  /** The purpose of the setting, in a few words. */
  readonly about: string;
  /** The default in words; omitted if there is no default. */
  readonly shown?: string;
  /** The value is never printed. */
  readonly secret?: true;
  /** The environment variable, unless it is `HEDGEROW_` followed by the upper-case name. */
  readonly variable?: string;
  /** The flag, unless it is the name in kebab case (`data-dir`). */
  readonly flag?: string;
}

/** The variables of `virtualDsn` begin with this text; the NAME of the database follows. */
export const DSN_VARIABLE = 'HEDGEROW_VIRTUAL_DSN_';

const NONE = () => undefined;

export const SETTINGS: { readonly [N in SettingName]: Setting<Config[N]> } = {
  dataDir: { kind: textKind('dir'), initial: () => './data', about: 'data directory', shown: './data', flag: 'data' },
  host: { kind: textKind('address'), initial: () => '127.0.0.1', about: 'address to listen on', shown: '127.0.0.1' },
  port: { kind: integerKind(0, 65535), initial: () => 8000, about: 'port, 0 takes a free one', shown: '8000' },
  tlsCert: { kind: textKind('file'), initial: NONE, about: 'certificate chain (PEM): serves https' },
  tlsKey: { kind: textKind('file'), initial: NONE, about: 'private key (PEM) of the certificate' },
  transport: {
    kind: oneOf(['auto', 'uws', 'node']),
    initial: () => 'auto',
    about: 'HTTP server: uWebSockets.js or node:http; auto: uWebSockets.js where it loads',
    shown: 'auto',
  },
  workers: {
    kind: workersKind,
    initial: () => 0,
    about: 'processes that answer reads, 0: one process does all; auto: cores - 1, at most 8',
    shown: '0',
  },
  apiKey: {
    kind: secretKind,
    initial: NONE,
    about: 'becomes the first admin key of a new data directory',
    secret: true,
  },
  authDisabled: { kind: switchKind, initial: () => false, about: 'serve without keys', shown: '0' },
  allowInsecure: { kind: switchKind, initial: () => false, about: 'allow any address without keys', shown: '0' },
  rateLimitQpm: {
    kind: integerKind(0, 1_000_000_000),
    initial: () => 1000,
    about: 'requests per minute and key, 0 = no limit',
    shown: '1000',
  },
  corsOrigins: { kind: originsKind, initial: () => [], about: 'origins whose pages may send requests' },
  publicHosts: { kind: hostsKind, initial: () => [], about: 'host names accepted in requests without keys' },
  socketsPerAddress: {
    kind: integerKind(0, 1_000_000),
    initial: () => 1000,
    about: 'open connections of a client address, 0 = no limit',
    shown: '1000',
  },
  proxyAddresses: {
    kind: addressesKind,
    initial: () => [],
    about: 'proxies: their connections are not counted',
  },
  logFormat: {
    kind: oneOf(['text', 'json']),
    initial: ({ isTerminal }) => (isTerminal ? 'text' : 'json'),
    about: 'form of log lines',
    shown: 'text on a terminal, else json',
  },
  logLevel: { kind: oneOf(LOG_LEVELS), initial: () => 'info', about: 'least level of log lines', shown: 'info' },
  auditLog: {
    kind: textKind('file'),
    initial: ({ dataDir }) => join(dataDir, 'audit.log'),
    about: 'file of the audit log',
    shown: 'audit.log in the data directory',
  },
  durability: {
    kind: oneOf(['fsync', 'async']),
    initial: () => 'fsync',
    about: 'fsync: answered when on disk; async: synced every 100 ms',
    shown: 'fsync',
  },
  memoryBudgetMb: {
    kind: integerKind(1, 2 ** 30),
    initial: halfOfMemory,
    about: 'memory for segments',
    shown: 'half of memory',
  },
  maxBodyMb: { kind: numberKind(0.001, 2047), initial: () => 64, about: 'largest request body', shown: '64' },
  maxMembers: {
    kind: integerKind(1, FORMAT_MAX_MEMBERS),
    initial: () => DEFAULT_MAX_MEMBERS,
    about: 'most members of an edge',
    shown: String(DEFAULT_MAX_MEMBERS),
  },
  primaryTable: {
    kind: identifierKind,
    initial: () => DEFAULT_PRIMARY_TABLE,
    about: 'table used when none is named',
    shown: DEFAULT_PRIMARY_TABLE,
  },
  queryTimeoutMs: {
    kind: integerKind(0, 2 ** 31 - 1),
    initial: () => 30_000,
    about: 'milliseconds a query may take, 0 = any',
    shown: '30000',
  },
  streamMaxSeconds: {
    kind: integerKind(0, 2_000_000),
    initial: () => 0,
    about: 'seconds a streamed answer may take, 0 = any',
    shown: '0',
  },
  changesKeepSeconds: {
    kind: integerKind(0, 2 ** 31),
    initial: () => DEFAULT_HISTORY.seconds,
    about: 'seconds for which changes are kept for readers, 0: none',
    shown: String(DEFAULT_HISTORY.seconds),
  },
  changesKeepMb: {
    kind: integerKind(1, 2 ** 30),
    initial: () => DEFAULT_HISTORY.bytes / MEGABYTE,
    about: 'most log kept for readers of changes, in MB',
    shown: String(DEFAULT_HISTORY.bytes / MEGABYTE),
  },
  follow: { kind: serverUrlKind, initial: NONE, about: 'follow the server at this address and answer reads' },
  followKey: { kind: secretKind, initial: NONE, about: 'admin key of the server that is followed', secret: true },
  forwardWrites: {
    kind: switchKind,
    initial: () => false,
    about: 'pass writes on to the server that is followed, instead of redirecting clients to it',
    shown: '0',
  },
  log: {
    kind: oneOf(['files', 'postgres']),
    initial: () => 'files',
    about: 'where the log is: postgres shares it with other servers, of which one leads',
    shown: 'files',
  },
  logDsn: { kind: secretKind, initial: NONE, about: 'address of the PostgreSQL database with the log', secret: true },
  advertiseUrl: {
    kind: serverUrlKind,
    initial: NONE,
    about: 'address of this server for the others with the same log',
    shown: 'http://host:port',
  },
  snapshotDir: {
    kind: textKind('dir'),
    initial: NONE,
    about: 'directory shared by the servers with the same log, for snapshots',
    shown: 'in PostgreSQL',
  },
  snapshotLogMb: {
    kind: integerKind(1, 2 ** 20),
    initial: () => 256,
    about: 'log in PostgreSQL after which the leader makes a snapshot, in MB',
    shown: '256',
  },
  transactionIdleSeconds: {
    kind: numberKind(0.001, 86_400),
    initial: () => 30,
    about: 'seconds until an idle transaction is rolled back',
    shown: '30',
  },
  backupRoot: {
    kind: textKind('dir'),
    initial: ({ dataDir }) => join(dataDir, 'backups'),
    about: 'directory of backups',
    shown: 'backups in the data directory',
  },
  copyRoot: { kind: textKind('dir'), initial: NONE, about: 'COPY reads and writes below it' },
  virtualRoot: {
    kind: textKind('dir'),
    initial: ({ dataDir }) => join(dataDir, 'virtual'),
    about: 'directory of the files of virtual graphs',
    shown: 'virtual in the data directory',
  },
  virtualCache: { kind: switchKind, initial: () => true, about: 'keep results of virtual graphs', shown: '1' },
  llmBaseUrl: {
    kind: baseUrlKind,
    initial: () => 'https://api.openai.com/v1',
    about: 'chat-completions address of the language model',
    shown: 'https://api.openai.com/v1',
  },
  llmModel: { kind: textKind('name'), initial: () => 'gpt-4o-mini', about: 'language model', shown: 'gpt-4o-mini' },
  llmAllowedHosts: {
    kind: hostPortsKind,
    initial: () => ['api.openai.com'],
    about: 'hosts, or host:port, of permitted language models',
    shown: 'api.openai.com',
  },
  openaiApiKey: {
    kind: secretKind,
    initial: NONE,
    about: 'key for the language model',
    secret: true,
    variable: 'OPENAI_API_KEY',
  },
};

export const SETTING_NAMES = Object.keys(SETTINGS) as SettingName[];

/** Returns the name in a file and in `config print`: `dataDir` becomes `data_dir`. */
export function fileKeyOf(name: keyof Config): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function variableOf(name: SettingName): string {
  return SETTINGS[name].variable ?? `HEDGEROW_${fileKeyOf(name).toUpperCase()}`;
}

/** Returns the flag without its leading dashes. */
export function flagOf(name: SettingName): string {
  return SETTINGS[name].flag ?? fileKeyOf(name).replaceAll('_', '-');
}

/** Returns half of the machine's memory or of the container's limit, whichever is less, in MB. */
function halfOfMemory(): number {
  const constrained = process.constrainedMemory();
  const bytes = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return Math.max(1, Math.floor(bytes / 2 / MEGABYTE));
}
