// Chooses the transport: uWebSockets.js if one of its binaries loads, otherwise node:http.
//
// No version of uWebSockets.js has binaries for all current versions of Node.js, and the newer of
// the two versions used here needs glibc 2.38. So both are installed under different names
// (optional dependencies), and the first that loads is used. Trying is harmless: both throw if they
// have no binary.

import { createRequire } from 'node:module';
import type { Transport, TransportFacts, TransportReason } from './transport.ts';
import { nodeTransport } from './transport-node.ts';
import { type UwsModule, uwsTransport } from './transport-uws.ts';

export const TRANSPORT_SETTINGS = ['auto', 'uws', 'node'] as const;
export type TransportSetting = (typeof TRANSPORT_SETTINGS)[number];

export interface Candidate {
  /** The name of the package among the optional dependencies in package.json. */
  packageName: string;
  version: string;
}

/** Newest first. */
export const CANDIDATES: readonly Candidate[] = [
  { packageName: 'uws-node22', version: '20.69.0' },
  { packageName: 'uws-node18', version: '20.51.4' },
];

/** Returns the module of a package; throws if it cannot be loaded. */
export type LoadPackage = (candidate: Candidate) => unknown;

interface Failure {
  reason: TransportReason;
  text: string;
}

/**
 * Chooses a transport. `load` is a parameter for tests. Throws if `uws` is requested and does not
 * load.
 */
export function chooseTransport(setting: TransportSetting, load: LoadPackage = loadPackage): Transport {
  if (setting === 'node') return overNode('configured', 'HEDGEROW_TRANSPORT is node.');
  const failures: Failure[] = [];
  for (const candidate of CANDIDATES) {
    const { version } = candidate;
    try {
      const uws = load(candidate) as UwsModule;
      const reason = setting === 'uws' ? 'configured' : 'loaded';
      const detail = setting === 'uws' ? 'HEDGEROW_TRANSPORT is uws.' : 'Its binary for this machine loads.';
      return uwsTransport(uws, { name: 'uws', version, reason, detail });
    } catch (error) {
      failures.push(failureOf(error, candidate));
    }
  }
  const why = `uWebSockets.js does not load on Node.js ${process.versions.node}, ${process.platform} ${process.arch}`;
  const detail = `${why}: ${failures.map(({ text }) => text).join('; ')}.`;
  if (setting === 'uws') {
    throw new Error(
      `HEDGEROW_TRANSPORT is uws, but ${detail} Set it to auto or node, or install the optional packages for a version of Node.js that has a binary.`,
    );
  }
  return overNode(worst(failures), detail);
}

/** Returns a line such as `HTTP by node:http of Node.js 24.1.0 (reason)`. */
export function transportLine({ name, version, reason, detail }: TransportFacts): string {
  const product = name === 'uws' ? 'uWebSockets.js' : 'node:http of Node.js';
  return `HTTP by ${product} ${version}${reason === 'loaded' ? '' : ` (${detail.slice(0, -1)})`}`;
}

function overNode(reason: TransportReason, detail: string): Transport {
  return nodeTransport({ name: 'node', version: process.versions.node, reason, detail });
}

/**
 * Loads a version if its own binary is installed. The binary is in a separate package, which has
 * the same name for both versions. npm may have placed the binary of the other version where this
 * version would find and load it. Therefore the version of the binary is checked first.
 */
function loadPackage({ packageName, version }: Candidate): unknown {
  const here = createRequire(import.meta.url);
  const binary = `@uwsjs/${process.platform}-${process.arch}-${process.versions.node.split('.')[0]}`;
  const found: { version: string } = createRequire(here.resolve(packageName))(`${binary}/package.json`);
  if (found.version !== version) throw new Error(`Error: Cannot find module ${binary} ${version}`);
  return here(packageName);
}

/**
 * Returns why a version did not load. uWebSockets.js throws a page of advice; the actual error is
 * in its last lines.
 */
function failureOf(error: unknown, { packageName, version }: Candidate): Failure {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'MODULE_NOT_FOUND' && message.includes(`'${packageName}'`)) {
    return { reason: 'not_installed', text: `${version} is not installed` };
  }
  const last = message.split('\n').findLast((line) => line.startsWith('Error: ')) ?? message.split('\n')[0]!;
  if (last.includes('Cannot find module')) return { reason: 'no_binary', text: `${version} has no binary for it` };
  return { reason: 'load_failed', text: `${version}: ${last.replace(/^Error: /, '').slice(0, 200)}` };
}

/** Returns the most informative reason among several failures. */
function worst(failures: readonly Failure[]): TransportReason {
  const order: readonly TransportReason[] = ['load_failed', 'no_binary', 'not_installed'];
  return order.find((reason) => failures.some((failure) => failure.reason === reason)) ?? 'not_installed';
}
