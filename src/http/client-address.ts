// The address of a client: as text for the audit log, and as an identifier for rate limits.

import { isIPv4, isIPv6 } from 'node:net';

const NO_ADDRESS = new ArrayBuffer(0);

/**
 * Returns the 4 or 16 bytes of an address given as text, as Node.js sockets report it; empty if
 * there is no address.
 */
export function addressBytes(text: string | undefined): ArrayBuffer {
  if (text === undefined) return NO_ADDRESS;
  if (isIPv4(text)) return Uint8Array.from(text.split('.'), Number).buffer;
  const plain = text.replace(/%.*$/, '');
  if (!isIPv6(plain)) return NO_ADDRESS;
  // The URL parser writes a trailing IPv4 part as two groups.
  const [head = '', tail] = new URL(`http://[${plain}]`).hostname.slice(1, -1).split('::');
  const front = groupsOf(head);
  const back = groupsOf(tail ?? '');
  const groups = [...front, ...new Array<number>(8 - front.length - back.length).fill(0), ...back];
  return Uint8Array.from(groups.flatMap((group) => [group >> 8, group & 0xff])).buffer;
}

function groupsOf(text: string): number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
}

/**
 * Returns the identifier of a client: for IPv4 (also mapped into IPv6) the address as a number, for
 * IPv6 the first 64 bits, since one host can use any address that begins with them.
 */
export function addressId(address: ArrayBuffer): number | string {
  const bytes = new Uint8Array(address);
  if (bytes.length === 4) return ipv4Number(bytes, 0);
  if (bytes.length !== 16) return 'unknown';
  if (isMapped(bytes)) return ipv4Number(bytes, 12);
  return hexGroups(bytes).slice(0, 4).join(':');
}

/**
 * Returns the address in the notation of RFC 5952, IPv4-mapped addresses as IPv4; `unknown` if the
 * transport reports no address.
 */
export function addressText(address: ArrayBuffer): string {
  const bytes = new Uint8Array(address);
  if (bytes.length === 4) return ipv4Text(bytes, 0);
  if (bytes.length !== 16) return 'unknown';
  if (isMapped(bytes)) return ipv4Text(bytes, 12);
  return shortened(hexGroups(bytes));
}

function ipv4Number(bytes: Uint8Array, offset: number): number {
  return bytes[offset]! * 2 ** 24 + bytes[offset + 1]! * 2 ** 16 + bytes[offset + 2]! * 2 ** 8 + bytes[offset + 3]!;
}

function ipv4Text(bytes: Uint8Array, offset: number): string {
  return `${bytes[offset]}.${bytes[offset + 1]}.${bytes[offset + 2]}.${bytes[offset + 3]}`;
}

/** Returns true for `::ffff:a.b.c.d`. */
function isMapped(bytes: Uint8Array): boolean {
  for (let i = 0; i < 10; i++) if (bytes[i] !== 0) return false;
  return bytes[10] === 0xff && bytes[11] === 0xff;
}

function hexGroups(bytes: Uint8Array): string[] {
  const groups: string[] = [];
  for (let i = 0; i < 16; i += 2) groups.push((bytes[i]! * 256 + bytes[i + 1]!).toString(16));
  return groups;
}

/**
 * Writes the longest run of two or more zero groups, or the first of equally long ones, as `::`.
 */
function shortened(groups: readonly string[]): string {
  let start = 0;
  let length = 0;
  for (let from = 0; from < groups.length; from++) {
    let to = from;
    while (groups[to] === '0') to++;
    if (to - from > length) {
      start = from;
      length = to - from;
    }
  }
  if (length < 2) return groups.join(':');
  return `${groups.slice(0, start).join(':')}::${groups.slice(start + length).join(':')}`;
}
