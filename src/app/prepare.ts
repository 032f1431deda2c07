// Checks and prepares what the configuration names: directories, TLS files, secrets in log lines,
// built pages.

import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { type Config, ConfigError, variableOf } from '../config.ts';
import type { TlsFiles } from '../http/index.ts';
import { Redactor } from '../observe/redact.ts';
import { nodeFs, widerThanOwner } from '../storage/index.ts';

/**
 * Returns a function that reads a file of a page by name, each file only once. The build puts these
 * files beside dist. The routes ensure that no name leads outside the folder.
 */
export function builtFiles(folder: 'docs-page' | 'console'): (name: string) => Uint8Array | undefined {
  const files = new Map<string, Uint8Array>();
  return (name) => {
    let bytes = files.get(name);
    if (bytes !== undefined) return bytes;
    try {
      bytes = readFileSync(new URL(`../../build/${folder}/${name}`, import.meta.url));
    } catch {
      return undefined;
    }
    files.set(name, bytes);
    return bytes;
  };
}

/**
 * Creates the directories that receive files at startup. Throws a ConfigError that names the
 * setting.
 */
export function makeDirectories({ dataDir, auditLog }: Config): void {
  for (const [name, dir] of [
    ['dataDir', resolve(dataDir)],
    ['auditLog', dirname(resolve(auditLog))],
  ] as const) {
    try {
      nodeFs.makeDir(dir);
    } catch (error) {
      const detail = `${variableOf(name)}: the directory ${dir} cannot be made (${(error as Error).message}). Choose one that this user may write.`;
      throw new ConfigError(detail);
    }
  }
}

/**
 * Returns warnings about directories that users other than the owner can access. The modes are not
 * changed, since they may be intentional.
 */
export function wideDirectories({ dataDir, backupRoot }: Config): string[] {
  return [...new Set([resolve(dataDir), resolve(backupRoot)])].flatMap((dir) => {
    const mode = widerThanOwner(dir);
    if (mode === undefined) return [];
    return `${dir} can be used by others than its owner (mode ${mode}). New files in it are accessible to the owner only; chmod -R go-rwx ${dir} restricts existing files too.`;
  });
}

/** Creates a redactor that masks the secrets of the configuration in all log lines. */
export function redactorFor({ apiKey, followKey, openaiApiKey, logDsn, virtualDsn }: Config): Redactor {
  const redactor = new Redactor();
  for (const secret of [apiKey, followKey, openaiApiKey]) if (secret !== undefined) redactor.registerSecret(secret);
  for (const dsn of [...Object.values(virtualDsn), ...(logDsn === undefined ? [] : [logDsn])]) {
    for (const secret of [dsn, ...passwordsOf(dsn)]) redactor.registerSecret(secret);
  }
  return redactor;
}

/** Returns the password in an address, as written (percent-encoded) and decoded. */
function passwordsOf(dsn: string): string[] {
  // An address with several hosts is no URL.
  const [, password = ''] = /^\w+:\/\/[^:/@]*:([^/@]*)@/.exec(dsn) ?? [];
  if (password === '') return [];
  try {
    return [password, decodeURIComponent(password)];
  } catch {
    return [password];
  }
}

/** Shorter RSA keys provide less than 112 bits of security (NIST SP 800-57 part 1, table 2). */
const LEAST_RSA_BITS = 2048;

/**
 * Checks and returns the TLS files. They are checked here because the transport would only report
 * that it cannot listen. Throws ConfigError.
 */
export function tlsOf({ tlsCert, tlsKey }: Config): TlsFiles | undefined {
  if (tlsCert === undefined || tlsKey === undefined) return undefined;
  const files: TlsFiles = { certFile: resolve(tlsCert), keyFile: resolve(tlsKey) };
  const [cert, key] = [pem('tlsCert', files.certFile), pem('tlsKey', files.keyFile)];
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    const pair = `${variableOf('tlsCert')} and ${variableOf('tlsKey')}`;
    throw new ConfigError(`${pair} are not a certificate and its key (${(error as Error).message}).`);
  }
  const { modulusLength: bits = LEAST_RSA_BITS } = new X509Certificate(cert).publicKey.asymmetricKeyDetails ?? {};
  if (bits < LEAST_RSA_BITS)
    throw new ConfigError(
      `${variableOf('tlsCert')} has an RSA key of ${bits} bits, which others can break. Take one of ${LEAST_RSA_BITS} bits or more, or an elliptic curve.`,
    );
  return files;
}

function pem(name: 'tlsCert' | 'tlsKey', file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new ConfigError(`${variableOf(name)} names ${file}, which cannot be read (${(error as Error).message}).`);
  }
}

/** Returns the host as a URL contains it: IPv6 addresses in brackets. */
export function bracketed(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}
