import { expect, test } from 'vitest';
import { ConfigError, isLoopback, loadConfig } from '../../src/config.ts';

const load = (environment: Record<string, string>, flags: Record<string, string | undefined> = {}) =>
  loadConfig({ environment, flags, isTerminal: false });

test('defaults of the contract', () => {
  const { config } = load({});
  expect(config).toEqual({
    dataDir: './data',
    host: '127.0.0.1',
    port: 8000,
    authDisabled: false,
    allowInsecure: false,
    durability: 'fsync',
    memoryBudgetMb: expect.any(Number),
    maxBodyMb: 64,
    maxMembers: 64,
    primaryTable: 'hyperedges',
    logFormat: 'json',
    logLevel: 'info',
  });
  expect(loadConfig({ environment: {}, isTerminal: true }).config.logFormat).toBe('text');
});

test('flags beat the environment, an empty variable is not set', () => {
  const environment = { HEDGEROW_PORT: '1', HEDGEROW_MAX_MEMBERS: '', HEDGEROW_DURABILITY: 'async' };
  const { config } = load(environment, { port: '2', host: undefined });
  expect(config).toMatchObject({ port: 2, maxMembers: 64, durability: 'async', host: '127.0.0.1' });
});

test.each([
  ['HEDGEROW_PORT', '65536'],
  ['HEDGEROW_PORT', '-1'],
  ['HEDGEROW_PORT', '80x'],
  ['HEDGEROW_MAX_MEMBERS', '0'],
  ['HEDGEROW_MAX_MEMBERS', '256'],
  ['HEDGEROW_DURABILITY', 'maybe'],
  ['HEDGEROW_MEMORY_BUDGET_MB', '0'],
  ['HEDGEROW_MAX_BODY_MB', 'big'],
  ['HEDGEROW_PRIMARY_TABLE', '1x'],
  ['HEDGEROW_LOG_LEVEL', 'loud'],
  ['HEDGEROW_LOG_FORMAT', 'xml'],
  ['HEDGEROW_AUTH_DISABLED', 'yes'],
])('%s=%s stops the start with one line that names it', (name, value) => {
  expect(() => load({ [name]: value })).toThrow(ConfigError);
  expect(() => load({ [name]: value })).toThrow(new RegExp(`^${name} is "${value}".*takes [^\n]*$`));
});

test('an address that others can reach needs a clear word', () => {
  expect(() => load({ HEDGEROW_HOST: '0.0.0.0' })).toThrow('HEDGEROW_ALLOW_INSECURE=1');
  expect(() => load({ HEDGEROW_HOST: '0.0.0.0', HEDGEROW_AUTH_DISABLED: '1' })).toThrow(ConfigError);
  const { warnings } = load({ HEDGEROW_HOST: '0.0.0.0', HEDGEROW_ALLOW_INSECURE: '1' });
  expect(warnings.join()).toContain('0.0.0.0');
  expect(['127.0.0.1', '127.1.2.3', '::1', 'localhost'].every(isLoopback)).toBe(true);
  expect(['0.0.0.0', '::', '10.0.0.1', '127.0.0.1.evil.example', 'example.org'].some(isLoopback)).toBe(false);
});

test('misspelt names are pointed out', () => {
  const { warnings } = load({ HEDGEROW_DURABLITY: 'async', HEDGEROW_API_KEY: 'x', HEDGEROW_VIRTUAL_DSN_PG: 'x' });
  expect(warnings.filter((line) => line.includes('no setting'))).toEqual([
    'HEDGEROW_DURABLITY is no setting of this service; did you mean HEDGEROW_DURABILITY?',
  ]);
});
