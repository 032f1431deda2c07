// Lists the peers connected to a port, from the kernel's table of TCP connections (Linux, proc(5)):
// for transports that do not report whose connection has ended.

import { readFileSync } from 'node:fs';

const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'];
/** ESTABLISHED, and CLOSE_WAIT: closed by the peer, but not by us yet. */
const OPEN_STATES: ReadonlySet<string> = new Set(['01', '08']);

/**
 * Returns the remote address of each open connection to `port` (4 or 16 bytes each); undefined if
 * this machine has no such table.
 */
export function peersOf(port: number): ArrayBuffer[] | undefined {
  const texts = TABLES.map(textOf).filter((text) => text !== undefined);
  return texts.length === 0 ? undefined : texts.flatMap((text) => peersIn(text, port));
}

/**
 * Parses a table. `text` contains a header line, then lines such as `0: 0100007F:1F90 0100007F:D431
 * 01 ...`.
 */
export function peersIn(text: string, port: number): ArrayBuffer[] {
  const end = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const peers: ArrayBuffer[] = [];
  for (const line of text.split('\n').slice(1)) {
    const [, local = '', remote = '', state = ''] = line.trim().split(/\s+/, 4);
    if (local.endsWith(end) && OPEN_STATES.has(state)) peers.push(bytesOf(remote.slice(0, remote.indexOf(':'))));
  }
  return peers;
}

/**
 * Decodes words of 32 bits, each in the byte order of this machine, which is little-endian wherever
 * the service runs.
 */
function bytesOf(hex: string): ArrayBuffer {
  const bytes = new Uint8Array(hex.length / 2);
  for (let i = 0; i < bytes.length; i++) bytes[i ^ 3] = Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16);
  return bytes.buffer;
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return undefined;
  }
}
