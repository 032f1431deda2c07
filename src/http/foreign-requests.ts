// Refuses requests from web pages of other origins while no key protects the service. It checks the
// headers Host (against DNS rebinding), Origin and Sec-Fetch-Site (Fetch Metadata, W3C).

import { BlockList, isIP } from 'node:net';
import { type HedgerowError, refusal } from '../errors.ts';
import type { Cors } from './cors.ts';
import { HOST, ORIGIN, SEC_FETCH_DEST, SEC_FETCH_MODE, SEC_FETCH_SITE } from './header-names.ts';
import type { RepeatedHeaders } from './repeated-headers.ts';
import type { TransportRequest } from './transport.ts';

export interface ForeignRequestsOptions {
  /** Address or name that the service listens on. */
  host: string;
  /**
   * Further names, or IP addresses without brackets, at which requests may be addressed to the
   * service.
   */
  publicHosts: readonly string[];
  /** True if https is served. */
  isSecure: boolean;
  cors: Cors;
}

interface Authority {
  /** Lower case, without brackets and without a trailing dot. */
  name: string;
  port: number;
}

const AUTHORITY = /^(\[[0-9a-f:.]{2,45}\]|[^[\]:@/?#\\\s]{1,255})(?::(\d{0,5}))?$/;

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/**
 * Values of Sec-Fetch-Site for requests in which no other site is involved; browsers without this
 * header send none.
 */
const OWN_SITES: ReadonlySet<string> = new Set(['', 'none', 'same-origin']);

export class ForeignRequests {
  readonly #names: ReadonlySet<string>;
  readonly #scheme: string;
  readonly #defaultPort: number;
  readonly #cors: Cors;
  /**
   * True if other machines can reach the service; then an IP address of any network may be the
   * service's own.
   */
  readonly #takesAddresses: boolean;
  /** The last valid Host header; most clients always send the same one. */
  #knownHost = '';

  constructor({ host, publicHosts, isSecure, cors }: ForeignRequestsOptions) {
    const own = plainName(host);
    this.#names = new Set(['localhost', own, ...publicHosts.map(plainName)]);
    this.#takesAddresses = own !== 'localhost' && !isLoopbackAddress(own);
    this.#scheme = isSecure ? 'https://' : 'http://';
    this.#defaultPort = isSecure ? 443 : 80;
    this.#cors = cors;
  }

  /**
   * Checks a request. `isPage` means that a link on another site may open the target. Throws
   * `foreign_host` or `foreign_origin`.
   */
  refuse(request: TransportRequest, repeated: RepeatedHeaders, isPage: boolean): void {
    const host = request.getHeader(HOST);
    if (host !== this.#knownHost || host === '') {
      if (!this.#isOwnHost(host)) throw foreignHost(host);
      this.#knownHost = host;
    }
    const origin = request.getHeader(ORIGIN);
    const site = request.getHeader(SEC_FETCH_SITE);
    if ((origin !== '' || site !== '') && repeated.hasRivalOrigins) throw foreignOrigin('two places at once');
    if (origin !== '') {
      if (this.#cors.allow(origin) !== undefined) return;
      if (!this.#isOwnOrigin(origin, host)) throw foreignOrigin(origin);
    }
    if (OWN_SITES.has(site) || this.#cors.allowsAll || (isPage && isOpenedByLink(request))) return;
    throw foreignOrigin(`another site (Sec-Fetch-Site: ${site})`);
  }

  #isOwnHost(host: string): boolean {
    const authority = this.#authorityOf(host);
    if (authority === undefined) return false;
    const { name } = authority;
    if (this.#names.has(name)) return true;
    return this.#takesAddresses ? isIP(name) !== 0 : isLoopbackAddress(name);
  }

  /** Returns true if the request was sent to the scheme, host and port of the origin. */
  #isOwnOrigin(origin: string, host: string): boolean {
    if (!origin.startsWith(this.#scheme)) return false;
    const from = origin.slice(this.#scheme.length);
    if (from === host) return true;
    const [one, other] = [this.#authorityOf(from), this.#authorityOf(host)];
    return one !== undefined && one.name === other?.name && one.port === other.port;
  }

  #authorityOf(text: string): Authority | undefined {
    const match = AUTHORITY.exec(text.toLowerCase());
    if (match === null) return undefined;
    const [, name, port = ''] = match;
    const number = port === '' ? this.#defaultPort : Number(port);
    return number > 65535 ? undefined : { name: plainName(name!), port: number };
  }
}

/**
 * Returns true if a person opened the page in a tab; the page with the link then learns nothing
 * about the opened page.
 */
function isOpenedByLink(request: TransportRequest): boolean {
  return request.getHeader(SEC_FETCH_MODE) === 'navigate' && request.getHeader(SEC_FETCH_DEST) === 'document';
}

function plainName(host: string): string {
  const name = host.toLowerCase().replace(/\.$/, '');
  return name.startsWith('[') && name.endsWith(']') ? name.slice(1, -1) : name;
}

/** Returns true for 127.0.0.0/8 and ::1 in any notation, including IPv4-mapped. */
function isLoopbackAddress(name: string): boolean {
  const family = isIP(name);
  return family !== 0 && LOOPBACK.check(name, family === 6 ? 'ipv6' : 'ipv4');
}

function foreignHost(host: string): HedgerowError {
  return refusal(
    'foreign_host',
    `No key is needed here, so only requests to a known host are answered, and ${shown(host)} is none. Use http://127.0.0.1 or http://localhost with the port, list the name in HEDGEROW_PUBLIC_HOSTS, or serve with keys.`,
  );
}

function foreignOrigin(from: string): HedgerowError {
  return refusal(
    'foreign_origin',
    `No key is needed here, so pages of other origins may not send requests, and this one comes from ${shown(from)}. List the origin in HEDGEROW_CORS_ORIGINS, or serve with keys.`,
  );
}

function shown(text: string): string {
  return text === '' ? 'an empty Host header' : JSON.stringify(text.slice(0, 100));
}
