// Classifies numeric addresses as public, loopback or special.

import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * `special`: private, link-local, shared, multicast, reserved, documentation or cloud-service
 * addresses, and addresses that embed one of these.
 */
export type Reach = 'public' | 'loopback' | 'special';

/** Addresses in public ranges that the cloud provider of the machine uses for its own services. */
const CLOUD_SERVICES: ReadonlySet<string> = new Set(['168.63.129.16']);

/**
 * Classifies an address. Returns undefined if the text is not a numeric address in a standard
 * notation.
 */
export function reachOf(address: string): Reach | undefined {
  switch (isIP(address)) {
    case 4:
      return reachOfFour(ipaddr.IPv4.parse(address));
    case 6:
      return reachOfSix(ipaddr.IPv6.parse(address));
    default:
      return undefined;
  }
}

function reachOfFour(address: ipaddr.IPv4): Reach {
  const range = address.range();
  if (range === 'loopback') return 'loopback';
  return range === 'unicast' && !CLOUD_SERVICES.has(address.toString()) ? 'public' : 'special';
}

/**
 * Classifies an IPv6 address. Global unicast addresses (2000::/3) that no standard reserves are
 * public. An address that embeds an IPv4 address is public if the IPv4 address is, and otherwise
 * special.
 */
function reachOfSix(address: ipaddr.IPv6): Reach {
  const { parts } = address;
  if (address.zoneId !== undefined) return 'special';
  if (address.range() === 'loopback') return 'loopback';
  if (isMapped(parts) || isNat64(parts)) return wrapped(parts);
  const isGlobal = (parts[0]! & 0xe000) === 0x2000 && address.range() === 'unicast';
  if (!isGlobal) return 'special';
  return isIsatap(parts) ? wrapped(parts) : 'public';
}

/** Returns true for `::ffff:a.b.c.d` (RFC 4291). */
function isMapped(parts: readonly number[]): boolean {
  return parts.slice(0, 5).every((part) => part === 0) && parts[5] === 0xffff;
}

/**
 * Returns true for `64:ff9b::a.b.c.d` (RFC 6052), by which networks without IPv4 reach the public
 * IPv4 network.
 */
function isNat64(parts: readonly number[]): boolean {
  return parts[0] === 0x64 && parts[1] === 0xff9b && parts.slice(2, 6).every((part) => part === 0);
}

/** Returns true for `...:0:5efe:a.b.c.d` (RFC 5214). */
function isIsatap(parts: readonly number[]): boolean {
  return (parts[4]! & 0xfdff) === 0 && parts[5] === 0x5efe;
}

/**
 * Classifies the IPv4 address in the last 32 bits. An embedded loopback address is `special`, not
 * `loopback`.
 */
function wrapped(parts: readonly number[]): Reach {
  const octets = parts.slice(6).flatMap((part) => [part >> 8, part & 0xff]);
  return reachOfFour(new ipaddr.IPv4(octets)) === 'public' ? 'public' : 'special';
}
