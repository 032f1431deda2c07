import { availableParallelism } from 'node:os';
import { expect, test } from 'vitest';
import { ConfigError, type ConfigFlags, isLoopback, loadConfig, messageWithSettings } from '../../src/config.ts';
import { refusal, type SettingKey } from '../../src/errors.ts';

const load = (environment: Record<string, string>, flags: ConfigFlags = {}, toml?: string) =>
  loadConfig({
    environment,
    flags,
    file: toml === undefined ? undefined : { name: 'hedgerow.toml', text: toml },
    isTerminal: false,
  });

test('every setting has its documented default', () => {
  const { config, warnings, sources } = load({});
  expect(config).toEqual({
    dataDir: './data',
    host: '127.0.0.1',
    port: 8000,
    tlsCert: undefined,
    tlsKey: undefined,
    transport: 'auto',
    apiKey: undefined,
    authDisabled: false,
    allowInsecure: false,
    rateLimitQpm: 1000,
    corsOrigins: [],
    publicHosts: [],
    socketsPerAddress: 1000,
    proxyAddresses: [],
    logFormat: 'json',
    logLevel: 'info',
    auditLog: 'data/audit.log',
    durability: 'fsync',
    memoryBudgetMb: expect.any(Number),
    maxBodyMb: 64,
    maxMembers: 64,
    primaryTable: 'hyperedges',
    queryTimeoutMs: 30_000,
    streamMaxSeconds: 0,
    changesKeepSeconds: 3600,
    changesKeepMb: 1024,
    follow: undefined,
    followKey: undefined,
    forwardWrites: false,
    workers: 0,
    log: 'files',
    logDsn: undefined,
    advertiseUrl: undefined,
    snapshotDir: undefined,
    snapshotLogMb: 256,
    transactionIdleSeconds: 30,
    backupRoot: 'data/backups',
    copyRoot: undefined,
    virtualRoot: 'data/virtual',
    virtualCache: true,
    virtualDsn: {},
    llmBaseUrl: 'https://api.openai.com/v1',
    llmModel: 'gpt-4o-mini',
    llmAllowedHosts: ['api.openai.com'],
    openaiApiKey: undefined,
  });
  expect(warnings).toEqual([]);
  expect(new Set(sources.values())).toEqual(new Set(['default']));
  expect(loadConfig({ environment: {}, isTerminal: true }).config.logFormat).toBe('text');
});

test('the transport is auto, uws or node', () => {
  for (const transport of ['auto', 'uws', 'node']) {
    expect(load({ HEDGEROW_TRANSPORT: transport }).config.transport).toBe(transport);
  }
  expect(() => load({ HEDGEROW_TRANSPORT: 'http2' })).toThrow(/HEDGEROW_TRANSPORT.*auto, uws, node/);
});

test('paths are below the data directory by default', () => {
  const { config } = load({ HEDGEROW_DATA_DIR: '/srv/db', HEDGEROW_BACKUP_ROOT: '/mnt/backups' });
  expect(config).toMatchObject({
    auditLog: '/srv/db/audit.log',
    backupRoot: '/mnt/backups',
    virtualRoot: '/srv/db/virtual',
  });
});

test('flags override the environment, which overrides the file; an empty variable counts as not set', () => {
  const environment = { HEDGEROW_PORT: '1', HEDGEROW_MAX_MEMBERS: '', HEDGEROW_DURABILITY: 'async' };
  const toml = 'port = 3\ndurability = "fsync"\nmax_members = 9\nprimary_table = "events"\n';
  const { config, sources } = load(environment, { port: '2', host: undefined }, toml);
  expect(config).toMatchObject({ port: 2, maxMembers: 9, durability: 'async', primaryTable: 'events' });
  const places = ['port', 'durability', 'max_members', 'primary_table', 'host'].map((name) => sources.get(name));
  expect(places).toEqual(['flag', 'env', 'file', 'file', 'default']);
});

test('lists, switches and fractions are parsed', () => {
  const toml = `
    cors_origins = ["https://a.example", "http://localhost:3000"]
    virtual_cache = false
    max_body_mb = 1.5
    rate_limit_qpm = 0
    proxy_addresses = ["10.0.0.1", "FD00:0:0::1"]
    llm_allowed_hosts = ["LLM.example", "localhost", "Box.example:08443", "127.0.0.1:11434", "::1", "[::1]:8080"]
    llm_base_url = "http://127.0.0.1:9000/v1/"`;
  expect(load({}, {}, toml).config).toMatchObject({
    corsOrigins: ['https://a.example', 'http://localhost:3000'],
    virtualCache: false,
    maxBodyMb: 1.5,
    rateLimitQpm: 0,
    proxyAddresses: ['10.0.0.1', 'fd00::1'],
    llmAllowedHosts: ['llm.example', 'localhost', 'box.example:8443', '127.0.0.1:11434', '::1', '[::1]:8080'],
    llmBaseUrl: 'http://127.0.0.1:9000/v1',
  });
  const origins = load({ HEDGEROW_CORS_ORIGINS: 'https://a.example, https://b.example,https://a.example' });
  expect(origins.config.corsOrigins).toEqual(['https://a.example', 'https://b.example']);
  expect(load({ HEDGEROW_CORS_ORIGINS: '*' }).config.corsOrigins).toEqual(['*']);
});

test('addresses of databases are collected by name, and the environment overrides the file', () => {
  const environment = { HEDGEROW_VIRTUAL_DSN_PG: 'postgres://one', HEDGEROW_VIRTUAL_DSN_EMPTY: '' };
  const { config, sources } = load(environment, {}, '[virtual_dsn]\npg = "postgres://two"\nold = "postgres://three"\n');
  expect(config.virtualDsn).toEqual({ PG: 'postgres://one', OLD: 'postgres://three' });
  expect([sources.get('virtual_dsn.PG'), sources.get('virtual_dsn.OLD')]).toEqual(['env', 'file']);
});

test.each([
  ['HEDGEROW_PORT', '65536'],
  ['HEDGEROW_PORT', '-1'],
  ['HEDGEROW_PORT', '80x'],
  ['HEDGEROW_PORT', '0'.repeat(100)],
  ['HEDGEROW_MAX_MEMBERS', '0'],
  ['HEDGEROW_MAX_MEMBERS', '256'],
  ['HEDGEROW_DURABILITY', 'maybe'],
  ['HEDGEROW_MEMORY_BUDGET_MB', '0'],
  ['HEDGEROW_MAX_BODY_MB', 'big'],
  ['HEDGEROW_MAX_BODY_MB', '1e3'],
  ['HEDGEROW_PRIMARY_TABLE', '1x'],
  ['HEDGEROW_LOG_LEVEL', 'loud'],
  ['HEDGEROW_LOG_FORMAT', 'xml'],
  ['HEDGEROW_AUTH_DISABLED', 'yes'],
  ['HEDGEROW_RATE_LIMIT_QPM', '-5'],
  ['HEDGEROW_QUERY_TIMEOUT_MS', '1.5'],
  ['HEDGEROW_TRANSACTION_IDLE_SECONDS', '0'],
  ['HEDGEROW_CORS_ORIGINS', 'https://*.example'],
  ['HEDGEROW_CORS_ORIGINS', 'null'],
  ['HEDGEROW_CORS_ORIGINS', 'https://a.example/path'],
  ['HEDGEROW_PUBLIC_HOSTS', 'a.example:443'],
  ['HEDGEROW_PUBLIC_HOSTS', 'https://a.example'],
  ['HEDGEROW_SOCKETS_PER_ADDRESS', '-1'],
  ['HEDGEROW_PROXY_ADDRESSES', 'localhost'],
  ['HEDGEROW_PROXY_ADDRESSES', '10.0.0.0/8'],
  ['HEDGEROW_LLM_ALLOWED_HOSTS', 'a.example:0'],
  ['HEDGEROW_LLM_ALLOWED_HOSTS', 'a.example:65536'],
  ['HEDGEROW_LLM_ALLOWED_HOSTS', 'a.example:443/v1'],
  ['HEDGEROW_LLM_ALLOWED_HOSTS', '[a.example]:443'],
  ['HEDGEROW_LLM_ALLOWED_HOSTS', '[::1]:'],
  ['HEDGEROW_LLM_ALLOWED_HOSTS', ':443'],
  ['HEDGEROW_LLM_BASE_URL', 'http://a.example/v1'],
])('%s=%s prevents the start and is reported in one line that names the variable', (name, value) => {
  expect(() => load({ [name]: value })).toThrow(ConfigError);
  const line = (() => {
    try {
      return String(load({ [name]: value }));
    } catch (error) {
      return (error as Error).message;
    }
  })();
  expect(line.startsWith(`${name} is ${JSON.stringify(value)}, but it takes `)).toBe(true);
  expect(line).not.toContain('\n');
});

test('a wrong flag is named as a flag in the error', () => {
  expect(() => load({ HEDGEROW_PORT: '1' }, { port: '' })).toThrow('--port is "", but it takes an integer from 0 to');
  expect(() => load({}, { dataDir: '' })).toThrow('--data is "", but it takes');
});

test.each([
  ['prot = 1', 'hedgerow.toml: prot is not a setting; did you mean port?'],
  ['HEDGEROW_PORT = 1', 'hedgerow.toml: HEDGEROW_PORT is not a setting'],
  ['[server]\nport = 1', 'hedgerow.toml: server is not a setting'],
  ['port = 70000', 'hedgerow.toml: port is "70000", but it takes an integer from 0 to 65535.'],
  ['port = "8000"', 'hedgerow.toml: port has another type, but it takes a number: an integer from 0 to 65535.'],
  ['auth_disabled = "yes"', 'hedgerow.toml: auth_disabled has another type, but it takes a boolean: 1 or 0.'],
  ['cors_origins = [1]', 'hedgerow.toml: cors_origins has another type, but it takes a list of strings: origins'],
  ['cors_origins = "https://a.example"', 'hedgerow.toml: cors_origins has another type'],
  ['data_dir = ""', 'hedgerow.toml: data_dir is "", but it takes a text that is not empty.'],
  ['port = 1979-05-27', 'hedgerow.toml: port has another type'],
  ['virtual_dsn = "x"', 'hedgerow.toml: virtual_dsn takes a table'],
  ['[virtual_dsn]\n"a-b" = "x"', 'hedgerow.toml: virtual_dsn.a-b takes a name'],
  ['[virtual_dsn]\npg = 1', 'hedgerow.toml: virtual_dsn.pg takes a text.'],
  ['[virtual_dsn]\npg = "x"\nPG = "y"', 'hedgerow.toml: virtual_dsn.PG is set twice.'],
  ['port = 1\nport = 2', 'hedgerow.toml: line 2, column'],
  ['api_key = "hgr_secret', 'hedgerow.toml: line 1, column'],
])('a file with %j prevents the start and is reported in one line', (toml, line) => {
  expect(() => load({}, {}, toml)).toThrow(ConfigError);
  expect(() => load({}, {}, toml)).toThrow(line);
  expect(() => load({}, {}, toml)).toThrow(/^(?!.*secret)[^\n]*$/);
});

test('a file that sets a name from Object.prototype is refused', () => {
  expect(() => load({}, {}, '__proto__ = 1')).toThrow(ConfigError);
  expect(() => load({}, {}, 'constructor = 1')).toThrow('constructor is not a setting');
});

test('an error about a wrong secret does not repeat the secret', () => {
  const withPassword = () => load({ HEDGEROW_LLM_BASE_URL: 'https://me:secret@a.example/v1' });
  expect(withPassword).toThrow('HEDGEROW_LLM_BASE_URL is "https://***@a.example/v1", but it takes an https address');
  const wrong = () => load({ HEDGEROW_API_KEY: 'my secret' });
  expect(wrong).toThrow('HEDGEROW_API_KEY has a value that cannot be used, but it takes printable ASCII');
  expect(wrong).not.toThrow('my secret');
});

test('a key that could be guessed is accepted with a warning', () => {
  const short = load({ HEDGEROW_API_KEY: 'x' });
  expect(short.config.apiKey).toBe('x');
  expect(short.warnings).toEqual([
    expect.stringMatching(
      /^HEDGEROW_API_KEY looks as if it had about 4 bits of randomness, fewer than 128, .* `openssl rand -hex 20`/,
    ),
  ]);
  expect(load({ HEDGEROW_API_KEY: 'x'.repeat(60) }).warnings.length).toBe(1);
  expect(load({ HEDGEROW_API_KEY: 'hgr_9f86d081884c7d659a2feaa0c55ad015a3bf4f1b' }).warnings).toEqual([]);
});

test('a follower has no workers', () => {
  const both = { HEDGEROW_FOLLOW: 'http://127.0.0.1:1', HEDGEROW_WORKERS: '2' };
  expect(() => load(both)).toThrow('HEDGEROW_WORKERS and HEDGEROW_FOLLOW are set');
});

test('workers are a number, or auto', () => {
  const workersOf = (text: string) => load({ HEDGEROW_WORKERS: text }).config.workers;
  expect(workersOf('3')).toBe(3);
  expect(workersOf('auto')).toBe(Math.min(8, Math.max(1, availableParallelism() - 1)));
  for (const text of ['-1', '65', 'all', '1.5']) expect(() => workersOf(text)).toThrow('HEDGEROW_WORKERS');
});

test('TLS needs both files or neither', () => {
  expect(() => load({ HEDGEROW_TLS_CERT: 'c' })).toThrow('HEDGEROW_TLS_CERT is set, but HEDGEROW_TLS_KEY is not');
  expect(() => load({}, { tlsKey: 'k' })).toThrow('HEDGEROW_TLS_KEY is set, but HEDGEROW_TLS_CERT is not');
  expect(load({ HEDGEROW_TLS_CERT: 'c', HEDGEROW_TLS_KEY: 'k' }).config).toMatchObject({ tlsCert: 'c', tlsKey: 'k' });
});

test('any address is allowed when keys are required; a warning says when traffic is not encrypted', () => {
  expect(load({ HEDGEROW_HOST: '0.0.0.0' }).warnings.join()).toContain('without TLS');
  const files = { HEDGEROW_TLS_CERT: 'c', HEDGEROW_TLS_KEY: 'k' };
  expect(load({ HEDGEROW_HOST: '0.0.0.0', ...files }).warnings).toEqual([]);
});

test('an address that other machines can reach needs HEDGEROW_ALLOW_INSECURE=1 when there are no keys', () => {
  const open = { HEDGEROW_HOST: '0.0.0.0', HEDGEROW_AUTH_DISABLED: '1' };
  expect(() => load(open)).toThrow(ConfigError);
  expect(() => load(open)).toThrow('HEDGEROW_ALLOW_INSECURE=1');
  const { config, warnings } = load({ ...open, HEDGEROW_ALLOW_INSECURE: '1' });
  expect(config).toMatchObject({ authDisabled: true, host: '0.0.0.0' });
  expect(warnings).toEqual(['Requests need no key, and 0.0.0.0 can be reached from other machines.']);
  expect(load({ HEDGEROW_AUTH_DISABLED: '1' }).warnings).toEqual([
    'Requests need no key: anyone on this machine can read and write.',
  ]);
  expect(['127.0.0.1', '127.1.2.3', '::1', 'localhost'].every(isLoopback)).toBe(true);
  expect(['0.0.0.0', '::', '10.0.0.1', '127.0.0.1.evil.example', 'example.org'].some(isLoopback)).toBe(false);
});

test('misspelt variable names are reported with the likely name', () => {
  const { warnings } = load({ HEDGEROW_DURABLITY: 'async', HEDGEROW_VIRTUAL_DSN_PG: 'x', HEDGEROW_SHELL: '1' });
  expect(warnings).toEqual([
    'HEDGEROW_DURABLITY is not a setting of this service; did you mean HEDGEROW_DURABILITY?',
    'HEDGEROW_SHELL is not a setting of this service',
  ]);
});

test.each<[SettingKey[], string]>([
  [[], 'It failed.'],
  [['copyRoot'], 'It failed. See the setting HEDGEROW_COPY_ROOT.'],
  [['llmModel', 'openaiApiKey'], 'It failed. See the settings HEDGEROW_LLM_MODEL and OPENAI_API_KEY.'],
  [['virtualDsn'], 'It failed. See the setting HEDGEROW_VIRTUAL_DSN_<NAME>.'],
  [['virtualDsn.pg'], 'It failed. See the setting HEDGEROW_VIRTUAL_DSN_PG.'],
])('an error that points to the settings %j names their variables', (settings, sentence) => {
  expect(messageWithSettings(refusal('internal', 'It failed.', { fields: { settings } }))).toBe(sentence);
  expect(messageWithSettings(refusal('internal', 'It failed.'))).toBe('It failed.');
});
