import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { configPrintCommand } from '../../src/cli/config/command.ts';
import { runProgram } from '../../src/cli/program.ts';
import { fileKeyOf, flagOf, SETTING_NAMES, SETTINGS, variableOf } from '../../src/config.ts';
import { TestWorld } from './support.ts';

let world: TestWorld;
beforeEach(() => {
  world = new TestWorld();
});
afterEach(() => {
  world.remove();
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

const SECRETS = {
  HEDGEROW_API_KEY: 'hgr_secret-of-the-operator',
  OPENAI_API_KEY: 'sk-secret-of-the-model',
  HEDGEROW_VIRTUAL_DSN_PG: 'postgres://me:secret@db/x',
};

function printed(
  settings: Record<string, string>,
  config?: string,
): Record<string, { value: unknown; source: string }> {
  world.out = '';
  expect(configPrintCommand({ config, settings, json: true }, world)).toBe(0);
  return JSON.parse(world.out);
}

test('every setting is shown with its value and its source', () => {
  world.environment = { HEDGEROW_PORT: '1', HEDGEROW_DURABILITY: 'async', HEDGEROW_CORS_ORIGINS: 'https://a.example' };
  world.file('hedgerow.toml', 'port = 2\nmax_members = 100\n[virtual_dsn]\nold = "x"\n');
  const shown = printed({ host: '127.0.0.2' }, 'hedgerow.toml');
  expect(Object.keys(shown)).toEqual([...SETTING_NAMES.map(fileKeyOf), 'virtual_dsn.OLD']);
  expect(shown).toMatchObject({
    host: { value: '127.0.0.2', source: 'flag' },
    port: { value: 1, source: 'env' },
    max_members: { value: 100, source: 'file' },
    data_dir: { value: './data', source: 'default' },
    cors_origins: { value: ['https://a.example'], source: 'env' },
    tls_cert: { value: null, source: 'default' },
    'virtual_dsn.OLD': { value: '***', source: 'file' },
  });
});

test('secrets are masked in both formats', () => {
  world.environment = SECRETS;
  const shown = printed({});
  expect([shown.api_key, shown.openai_api_key, shown['virtual_dsn.PG']]).toEqual(
    Array(3).fill({ value: '***', source: 'env' }),
  );
  expect(configPrintCommand({ config: undefined, settings: {}, json: false }, world)).toBe(0);
  expect(world.out).toMatch(/^api_key +\*\*\* +env$/m);
  expect(world.out + world.err).not.toContain('secret');
});

test('the table has a line for every setting', () => {
  configPrintCommand({ config: undefined, settings: {}, json: false }, world);
  const names = world.out.split('\n').map((line) => line.split(' ')[0]);
  expect(names).toEqual(['setting', ...SETTING_NAMES.map(fileKeyOf), '']);
  expect(world.out).toMatch(/^port +8000 +default$/m);
  expect(world.out).toMatch(/^copy_root +- +default$/m);
});

test('invalid settings are reported in one line, with exit code 1 for an unreadable file and 2 for a wrong value', () => {
  expect(configPrintCommand({ config: 'nowhere.toml', settings: {}, json: false }, world)).toBe(1);
  expect(world.err).toBe('hedgerow: The configuration file nowhere.toml cannot be read (ENOENT).\n');
  world.err = '';
  world.file('wrong.toml', 'port = true\n');
  expect(configPrintCommand({ config: 'wrong.toml', settings: {}, json: false }, world)).toBe(2);
  expect(world.err).toMatch(/^hedgerow: wrong\.toml: port has another type[^\n]*\n$/);
  expect(world.out).toBe('');
});

test('warnings are printed to standard error', () => {
  world.environment = { HEDGEROW_PROT: '1' };
  expect(configPrintCommand({ config: undefined, settings: {}, json: false }, world)).toBe(0);
  expect(world.err).toBe('hedgerow: HEDGEROW_PROT is not a setting of this service; did you mean HEDGEROW_PORT?\n');
});

test('serve and config print have a flag for every setting and name its variable', async () => {
  for (const command of [['serve'], ['config', 'print']]) {
    let help = '';
    vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
      help += String(text);
      return true;
    });
    expect(await runProgram([...command, '--help'], '1.2.3')).toBe(0);
    vi.restoreAllMocks();
    const words = help.replace(/\s+/g, ' ');
    for (const name of SETTING_NAMES) {
      expect(words).toContain(`--${flagOf(name)} ${SETTINGS[name].kind.placeholder} `);
      expect(words).toContain(`(${variableOf(name)}`);
    }
    expect(words).toContain('--config <file>');
  }
});

/** Flags that only a server whose log is in PostgreSQL takes, which cannot follow another one. */
const OF_POSTGRES: Readonly<Record<string, string>> = {
  log: 'postgres',
  'log-dsn': 'postgres://h:p@db:5432/hedgerow',
  'advertise-url': 'https://one.example',
  'snapshot-dir': 's',
  'snapshot-log-mb': '12',
  durability: 'fsync',
};
const OF_FOLLOWERS: readonly string[] = ['follow', 'follow-key', 'forward-writes'];

test.each(['files', 'postgres'])('every flag sets its setting: log in %s', async (log) => {
  const all: Record<string, string> = {
    'data-dir': 'x',
    'tls-cert': 'c',
    'tls-key': 'k',
    transport: 'node',
    workers: '0',
    host: '::1',
    port: '1',
    'api-key': 'k'.repeat(20),
    'rate-limit-qpm': '2',
    'cors-origins': 'https://a.example',
    'public-hosts': 'a.example',
    'sockets-per-address': '9',
    'proxy-addresses': '10.0.0.1',
    'log-format': 'text',
    'log-level': 'debug',
    'audit-log': 'a',
    durability: 'async',
    'memory-budget-mb': '3',
    'max-body-mb': '4',
    'max-members': '5',
    'primary-table': 'p',
    'query-timeout-ms': '6',
    'stream-max-seconds': '8',
    'changes-keep-seconds': '10',
    'changes-keep-mb': '11',
    follow: 'http://127.0.0.1:2',
    'follow-key': 'f'.repeat(20),
    'forward-writes': '1',
    'transaction-idle-seconds': '7',
    'backup-root': 'b',
    'copy-root': 'd',
    'virtual-root': 'v',
    'virtual-cache': '0',
    'llm-base-url': 'https://a.example',
    'llm-model': 'm',
    'llm-allowed-hosts': 'a.example',
    'openai-api-key': 'o'.repeat(20),
  };
  const left = (log === 'files' ? Object.keys(OF_POSTGRES) : OF_FOLLOWERS).filter((name) => name !== 'durability');
  const given = Object.entries({ ...all, ...(log === 'files' ? {} : OF_POSTGRES) }).filter(
    ([flag]) => !OF_FOLLOWERS.includes(flag) || log === 'files',
  );
  const flags = given.flatMap(([flag, value]) => [`--${flag.replace('data-dir', 'data')}`, value]);
  for (const variable of SETTING_NAMES.map(variableOf)) vi.stubEnv(variable, undefined);
  let text = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    text += String(chunk);
    return true;
  });
  vi.spyOn(process.stderr, 'write').mockImplementation(() => true);
  const argv = ['config', 'print', '--json', '--auth-disabled', '--allow-insecure', ...flags];
  expect(await runProgram(argv, '1.2.3')).toBe(0);
  const shown = JSON.parse(text) as Record<string, { value: unknown; source: string }>;
  const others = Object.keys(shown).filter((name) => shown[name]!.source !== 'flag');
  expect(others.sort()).toEqual(left.map((name) => name.replaceAll('-', '_')).sort());
  expect(shown).toMatchObject({ auth_disabled: { value: true }, virtual_cache: { value: false }, port: { value: 1 } });
});
