// Decides at which addresses a language model may be called, so that callers cannot make the server
// send requests into private networks.

import { type HedgerowError, refusal } from '../errors.ts';
import { reachOf } from './ip-reach.ts';

/** A checked address. Only `checkModelAddress` creates one. */
export interface ModelAddress {
  /** For example `https://api.openai.com`, with the port if it is not the default one. */
  readonly origin: string;
  /** For example `/v1/chat/completions`. */
  readonly path: string;
  /** Lower case, ASCII, no brackets, no trailing dot. */
  readonly host: string;
  /** Whether `host` is a numeric address, which needs no lookup. */
  readonly isNumeric: boolean;
  /** The allowed hosts whose entries accept the port of this address. */
  readonly listed: ReadonlySet<string>;
}

const LONGEST_URL = 2048;
const LONGEST_HOST = 253;
/**
 * Characters that the URL standard drops or rewrites. They are refused, so that no two parsers read
 * the address differently.
 */
const UNPLAIN = /[\s\\\p{Cc}\p{Surrogate}]/u;

/**
 * Checks that `{base_url}/chat/completions` may be called. The address must be https (http for this
 * machine only), without user, query and fragment. `allowedHosts` must list its host and port. An
 * entry without a port (`api.example`) allows the default port of the scheme and, if the address is
 * the configured one, any port. An entry with a port (`127.0.0.1:11434`, `[::1]:8080`) allows that
 * port. Throws `invalid_model_address`.
 */
export function checkModelAddress(
  baseUrl: string,
  allowedHosts: readonly string[],
  configuredBaseUrl: string = baseUrl,
): ModelAddress {
  const url = parsed(baseUrl);
  const host = plainHost(url.hostname);
  if (host === undefined || url.port === '0') throw invalid('names no valid host and port');
  const isConfigured = isSameAddress(baseUrl, configuredBaseUrl);
  const entries = allowedHosts.map(listedHost).filter((entry) => entry !== undefined);
  const listed = new Set(entries.filter((entry) => takesPort(entry, url, isConfigured)).map((entry) => entry.host));
  const reach = reachOf(host);
  if (!listed.has(host)) {
    if (entries.some((entry) => entry.host === host))
      throw invalid(`names port ${portOf(url)} of ${host}, which is not an allowed port of that host`);
    throw invalid(
      reach === undefined || reach === 'public'
        ? `names the host ${host}, which is not on the list of allowed hosts`
        : `names ${host}, an address of this machine, of a private or of a reserved network, which is not on the list of allowed hosts`,
    );
  }
  if (url.protocol !== 'https:' && host !== 'localhost' && reach !== 'loopback') {
    throw invalid('must begin with https://; http:// is for this machine only');
  }
  return {
    origin: originOf(url, host),
    path: `${url.pathname.replace(/\/+$/, '')}/chat/completions`,
    host,
    isNumeric: reach !== undefined,
    listed,
  };
}

/**
 * Checks all addresses that a host resolves to; throws `invalid_model_address`. One forbidden
 * address is enough to refuse, since the next lookup may return that one alone.
 */
export function checkResolved({ host, listed }: ModelAddress, answers: readonly string[]): void {
  for (const answer of answers) {
    const reach = reachOf(answer);
    if (host === 'localhost' ? reach === 'loopback' : reach === 'public') continue;
    const plain = plainHost(answer);
    if (plain !== undefined && reach !== undefined && listed.has(plain)) continue;
    // The message does not name the resolved address, which would reveal networks that the caller
    // cannot see.
    throw invalid(
      `names the host ${host}, which leads to an address of this machine, of a private or of a reserved network that is not on the list of allowed hosts`,
    );
  }
}

/**
 * Returns true if two base addresses have the same scheme, host, port and path. The path counts,
 * because one server may offer several interfaces. Returns false if either text is not an address.
 */
export function isSameAddress(one: string, other: string): boolean {
  const [first, second] = [one, other].map((text) => {
    const url = plainUrl(text);
    const host = url && plainHost(url.hostname);
    return host === undefined ? undefined : originOf(url!, host) + url!.pathname.replace(/\/+$/, '');
  });
  return first !== undefined && first === second;
}

interface ListedHost {
  readonly host: string;
  /** Undefined if the entry names no port. */
  readonly port: string | undefined;
}

/** Parses an entry of the allowed hosts; returns undefined if it is not a host. */
function listedHost(entry: string): ListedHost | undefined {
  const [, name = entry, port] = /^([^:]+|\[[^\]]*\]):(\d{1,5})$/.exec(entry) ?? [];
  const host = plainHost(name);
  return host === undefined ? undefined : { host, port: port === undefined ? undefined : String(Number(port)) };
}

function takesPort({ port }: ListedHost, url: URL, isConfigured: boolean): boolean {
  // URL omits the default port of a scheme.
  return port === undefined ? isConfigured || url.port === '' : port === portOf(url);
}

function portOf({ protocol, port }: URL): string {
  return port !== '' ? port : protocol === 'https:' ? '443' : '80';
}

function parsed(baseUrl: string): URL {
  if (!/^https?:\/\/[^/]/i.test(baseUrl)) throw invalid('must begin with https://');
  if (/^[^/]*\/\/[^/?#]*@/.test(baseUrl)) throw invalid('must not hold a user name or a password');
  if (/[?#]/.test(baseUrl)) throw invalid('must not hold a query or a fragment');
  const url = plainUrl(baseUrl);
  if (url === undefined) throw invalid('is not a web address');
  return url;
}

function plainUrl(text: string): URL | undefined {
  if (text.length > LONGEST_URL || UNPLAIN.test(text)) return undefined;
  try {
    // Not URL.canParse: once optimised, Node 20's version rejects internationalised host names.
    return new URL(text);
  } catch {
    return undefined;
  }
}

function originOf({ protocol, port }: URL, host: string): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return `${protocol}//${name}${port === '' ? '' : `:${port}`}`;
}

/**
 * Returns the same text for every spelling of a host: normalises case, internationalised names, the
 * trailing dot and all notations of numeric addresses. Returns undefined if the text is not a host.
 */
function plainHost(text: string): string | undefined {
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
  const address = `https://${bare.includes(':') ? `[${bare}]` : bare}/`;
  const url = bare === '' || /[/?#@%]/.test(bare) ? undefined : plainUrl(address);
  if (url === undefined) return undefined;
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  return host === '' || host.length > LONGEST_HOST ? undefined : host;
}

function invalid(what: string): HedgerowError {
  return refusal(
    'invalid_model_address',
    `The address of the language model ${what}. Give an https address on an allowed host, such as https://api.openai.com/v1.`,
    { fields: { settings: ['llmBaseUrl', 'llmAllowedHosts'] } },
  );
}
