// The kinds of values that settings take: how each is parsed and how messages describe it.

import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { IDENTIFIER } from '../model/columns.ts';

export interface Kind<T> {
  /** Returns undefined if the text is not a value of this kind. */
  parse(text: string): T | undefined;
  /** Completes the sentence "it takes ..." in messages. */
  readonly takes: string;
  /** Type of the value in a TOML file. */
  readonly form: 'string' | 'number' | 'boolean' | 'list';
  /** Placeholder for the value in the help of a flag. */
  readonly placeholder: string;
}

/** A text longer than twice this is not a number; sensible numbers are far shorter. */
const MOST_DIGITS = 15;
const MOST_WORKERS = 64;
const MOST_AUTO = 8;

export const textKind = (placeholder: string): Kind<string> => ({
  parse: (text) => (text === '' ? undefined : text),
  takes: 'a text that is not empty',
  form: 'string',
  placeholder: `<${placeholder}>`,
});

export const identifierKind: Kind<string> = {
  parse: (text) => (IDENTIFIER.test(text) ? text : undefined),
  takes: 'a name of letters, digits and _ that starts with no digit',
  form: 'string',
  placeholder: '<name>',
};

/** A secret sent in a header: characters that a header cannot contain are refused. */
export const secretKind: Kind<string> = {
  parse: (text) => (/^[\x21-\x7e]{1,1024}$/.test(text) ? text : undefined),
  takes: 'printable ASCII characters without spaces, at most 1024',
  form: 'string',
  placeholder: '<key>',
};

export const switchKind: Kind<boolean> = {
  parse: (text) => (text === '1' || text === 'true' ? true : text === '0' || text === 'false' ? false : undefined),
  takes: '1 or 0',
  form: 'boolean',
  placeholder: '[1|0]',
};

/** The number of workers; `auto` leaves one core to the process that leads. */
export const workersKind: Kind<number> = {
  parse: (text) =>
    text === 'auto'
      ? Math.min(MOST_AUTO, Math.max(1, availableParallelism() - 1))
      : integerKind(0, MOST_WORKERS).parse(text),
  takes: `an integer from 0 to ${MOST_WORKERS}, or auto`,
  form: 'string',
  placeholder: '<N|auto>',
};

export function oneOf<T extends string>(values: readonly T[]): Kind<T> {
  return {
    parse: (text) => values.find((value) => value === text),
    takes: values.join(', '),
    form: 'string',
    placeholder: `<${values.join('|')}>`,
  };
}

export function integerKind(least: number, most: number): Kind<number> {
  return {
    parse: (text) => (/^\d+$/.test(text) ? within(text, least, most) : undefined),
    takes: `an integer from ${least} to ${most}`,
    form: 'number',
    placeholder: '<number>',
  };
}

export function numberKind(least: number, most: number): Kind<number> {
  return {
    parse: (text) => (/^\d+(\.\d{1,15})?$/.test(text) ? within(text, least, most) : undefined),
    takes: `a number from ${least} to ${most}`,
    form: 'number',
    placeholder: '<number>',
  };
}

function within(text: string, least: number, most: number): number | undefined {
  const value = text.length > 2 * MOST_DIGITS ? Number.NaN : Number(text);
  return value >= least && value <= most ? value : undefined;
}

/**
 * Returns a kind for comma-separated lists without duplicates. `part` parses each part, or returns
 * undefined for an invalid one.
 */
function listKind(takes: string, placeholder: string, part: (text: string) => string | undefined): Kind<string[]> {
  return {
    parse(text) {
      const parts = text
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== '')
        .map(part);
      return parts.includes(undefined) ? undefined : [...new Set(parts as string[])];
    },
    takes,
    form: 'list',
    placeholder: `<${placeholder}>`,
  };
}

/** Origins as browsers send them in `Origin`; `*` means all. */
export const originsKind = listKind(
  'origins such as https://app.example:8443 with a comma between, or *',
  'origins',
  (text) =>
    text === '*' || (!text.includes('*') && URL.canParse(text) && new URL(text).origin === text) ? text : undefined,
);

/** Host names without a port; IPv6 addresses without brackets. */
export const hostsKind = listKind('host names without a port, with a comma between', 'hosts', (text) =>
  /^([A-Za-z0-9-]+\.)*[A-Za-z0-9-]+$|^[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*$/.test(text)
    ? text.toLowerCase()
    : undefined,
);

/** IP addresses, IPv6 in the form of RFC 5952: lower case, zeros as `::`. */
export const addressesKind = listKind('IP addresses with a comma between', 'addresses', (text) => {
  const family = isIP(text);
  if (family === 4) return text;
  return family === 6 && !text.includes('%') ? new URL(`http://[${text}]`).hostname.slice(1, -1) : undefined;
});

/**
 * Hosts with or without a port: `api.example`, `api.example:8443`, `127.0.0.1:11434`, `::1`,
 * `[::1]:8080`.
 */
export const hostPortsKind = listKind(
  'host names, each with or without a port, with a comma between',
  'hosts',
  (text) => {
    const [, bracketed, name, port] = /^(?:\[([^\]]*)\]|([^:]*)):(\d{1,5})$/.exec(text) ?? [];
    if (port === undefined) return hostsKind.parse(text)?.[0];
    const host = hostsKind.parse(bracketed ?? name!)?.[0];
    const isPort = Number(port) >= 1 && Number(port) <= 65535;
    if (!isPort || host === undefined || host.includes(':') !== (bracketed !== undefined)) return undefined;
    return `${bracketed === undefined ? host : `[${host}]`}:${Number(port)}`;
  },
);

/** An https URL, or an http URL with a loopback host; parsing removes trailing slashes. */
export const baseUrlKind: Kind<string> = {
  parse(text) {
    if (!URL.canParse(text)) return undefined;
    const { protocol, hostname, username, password, search, hash } = new URL(text);
    const isSafe = protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
    return isSafe && username + password + search + hash === '' ? text.replace(/\/+$/, '') : undefined;
  },
  takes: 'an https address (http for this machine only) without user, password and query',
  form: 'string',
  placeholder: '<url>',
};

/** The address of another server of this service. */
export const serverUrlKind: Kind<string> = {
  parse(text) {
    if (!URL.canParse(text)) return undefined;
    const { protocol, username, password, search, hash } = new URL(text);
    const isSafe = protocol === 'https:' || protocol === 'http:';
    return isSafe && username + password + search + hash === '' ? text.replace(/\/+$/, '') : undefined;
  },
  takes: 'an http or https address without user, password and query',
  form: 'string',
  placeholder: '<url>',
};

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host === '[::1]' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
}
