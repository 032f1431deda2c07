import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { CANDIDATES, type Candidate, chooseTransport, transportLine } from '../../src/http/choose-transport.ts';

const NOTHING = { App: () => ({}), SSLApp: () => ({}), us_socket_local_port: () => 0 };

function notInstalled({ packageName }: Candidate): never {
  throw Object.assign(
    new Error(`Cannot find module '${packageName}'\nRequire stack:\n- /x/dist/http/choose-transport.js`),
    {
      code: 'MODULE_NOT_FOUND',
    },
  );
}

/** Returns a loader that fails with the message of uWebSockets.js. */
function failing(last: string) {
  return (): never => {
    throw new Error(`This version of uWS.js supports only Node.js versions 18, 20, 22.\n\n${last}`);
  };
}
const noBinary = failing("Error: Cannot find module './uws_linux_x64_137.node'\nRequire stack:\n- /x/uws.js");
const oldLibrary = failing("Error: /lib/libc.so.6: version `GLIBC_2.38' not found (required by /x/uws.node)");

test('the newest version of uWebSockets.js that loads is chosen', () => {
  const [newest, older] = CANDIDATES as [Candidate, Candidate];
  expect(chooseTransport('auto', () => NOTHING).facts).toEqual({
    name: 'uws',
    version: newest.version,
    reason: 'loaded',
    detail: 'Its binary for this machine loads.',
  });
  const second = chooseTransport('auto', (candidate) => (candidate === newest ? oldLibrary() : NOTHING));
  expect(second.facts).toMatchObject({ name: 'uws', version: older.version, reason: 'loaded' });
  expect(transportLine(second.facts)).toBe(`HTTP by uWebSockets.js ${older.version}`);
});

describe('when no version of uWebSockets.js loads', () => {
  test.each([
    ['not_installed', notInstalled, /: 20\.69\.0 is not installed; 20\.51\.4 is not installed\.$/],
    ['no_binary', noBinary, /: 20\.69\.0 has no binary for it; 20\.51\.4 has no binary for it\.$/],
    ['load_failed', oldLibrary, /: 20\.69\.0: \/lib\/libc\.so\.6: version `GLIBC_2\.38' not found .*; 20\.51\.4: /],
  ] as const)('node:http serves, and the reason is reported: %s', (reason, load, detail) => {
    const { facts } = chooseTransport('auto', load);
    expect(facts).toMatchObject({ name: 'node', version: process.versions.node, reason });
    expect(facts.detail).toMatch(detail);
    expect(facts.detail).toContain(`does not load on Node.js ${process.versions.node}`);
    expect(transportLine(facts)).toContain(
      `HTTP by node:http of Node.js ${process.versions.node} (uWebSockets.js does`,
    );
  });

  test('the most specific reason is reported', () => {
    const load = (candidate: Candidate) => (candidate === CANDIDATES[0] ? oldLibrary() : notInstalled(candidate));
    expect(chooseTransport('auto', load).facts.reason).toBe('load_failed');
  });
});

test('node:http is used when configured, without an attempt to load uWebSockets.js', () => {
  const load = () => expect.fail('loaded');
  expect(chooseTransport('node', load).facts).toMatchObject({ name: 'node', reason: 'configured' });
});

test('the start fails with advice when uws is configured but does not load', () => {
  expect(chooseTransport('uws', () => NOTHING).facts).toMatchObject({ name: 'uws', reason: 'configured' });
  expect(() => chooseTransport('uws', noBinary)).toThrow(
    /^HEDGEROW_TRANSPORT is uws, but uWebSockets\.js does not load on Node\.js .*: 20\.69\.0 has no binary for it.* Set it to auto or node/,
  );
});

test('the versions match package.json, and all of them are optional', () => {
  const { optionalDependencies, dependencies } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  );
  for (const { packageName, version } of CANDIDATES) {
    expect(optionalDependencies[packageName]).toBe(`npm:@uwsjs/core@${version}`);
    expect(dependencies[packageName]).toBeUndefined();
  }
});
