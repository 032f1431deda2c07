// Compresses whole bodies with gzip for clients that accept it.

import { gzip, gzipSync, type ZlibOptions } from 'node:zlib';

/** Bodies up to this size are sent uncompressed. */
export const PLAIN_BYTES = 1024;
/**
 * Bodies up to this size are compressed synchronously (about 0.1 ms): passing them to another
 * thread costs as much.
 */
const AT_ONCE_BYTES = 16 * 1024;

/** Small tables, since setting them up is most of the work. */
const SMALL: ZlibOptions = { level: 3, windowBits: 13, memLevel: 6 };
const LARGE: ZlibOptions = { level: 4 };

/** Types that compress well: text of any kind. */
const COMPRESSIBLE = /^(text\/|application\/(json|x-ndjson|javascript|[a-z.+-]*\+json|xml)|image\/svg\+xml)/;

export function isCompressible(contentType: string): boolean {
  return COMPRESSIBLE.test(contentType);
}

export function compressAtOnce(body: Uint8Array): Uint8Array | undefined {
  return body.length <= AT_ONCE_BYTES ? gzipSync(body, SMALL) : undefined;
}

/** Runs in another thread; `body` must not change in the meantime. */
export function compress(body: Uint8Array): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    gzip(body, LARGE, (error, result) => (error === null ? resolve(result) : reject(error)));
  });
}

/**
 * Returns true if `Accept-Encoding` accepts gzip and does not prefer the plain body (RFC 9110,
 * 12.5.3).
 */
export function acceptsGzip(header: string): boolean {
  if (header === '') return false;
  let gzipWeight: number | undefined;
  let anyWeight: number | undefined;
  let plainWeight = 0;
  for (const item of header.toLowerCase().split(',')) {
    const [coding = '', ...parameters] = item.split(';').map((part) => part.trim());
    const weight = weightOf(parameters);
    if (coding === 'gzip' || coding === 'x-gzip') gzipWeight = Math.max(gzipWeight ?? 0, weight);
    else if (coding === '*') anyWeight = weight;
    else if (coding === 'identity') plainWeight = weight;
  }
  const weight = gzipWeight ?? anyWeight ?? 0;
  return weight > 0 && weight >= plainWeight;
}

/** Returns the `q` of one item: 1 if absent, 0 if it is not a valid weight. */
function weightOf(parameters: readonly string[]): number {
  for (const parameter of parameters) {
    const [name, value = ''] = parameter.split('=');
    if (name?.trim() !== 'q') continue;
    return /^(0(\.\d{0,3})?|1(\.0{0,3})?)$/.test(value.trim()) ? Number(value) : 0;
  }
  return 1;
}
