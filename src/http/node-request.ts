// Adapts the head of a node:http request to the transport port.

import type { IncomingMessage } from 'node:http';
import { headerText } from './header-names.ts';
import type { TransportRequest } from './transport.ts';

export class NodeRequest implements TransportRequest {
  /** Number of Host headers. */
  readonly hosts: number;
  /** True if a length or a transfer coding is declared. */
  readonly hasBody: boolean;
  readonly #url: string;
  readonly #queryStart: number;
  /** Name, value, name, value, ...; names in lower case. */
  readonly #headers: string[];

  constructor({ url = '', rawHeaders }: IncomingMessage) {
    this.#url = url;
    this.#queryStart = url.indexOf('?');
    const headers = new Array<string>(rawHeaders.length);
    let hosts = 0;
    let hasBody = false;
    for (let i = 0; i < rawHeaders.length; i += 2) {
      const name = rawHeaders[i]!.toLowerCase();
      if (name === 'host') hosts += 1;
      else if (name === 'content-length' || name === 'transfer-encoding') hasBody = true;
      headers[i] = name;
      headers[i + 1] = rawHeaders[i + 1]!;
    }
    this.hosts = hosts;
    this.hasBody = hasBody;
    this.#headers = headers;
  }

  getUrl(): string {
    return this.#queryStart < 0 ? this.#url : this.#url.slice(0, this.#queryStart);
  }

  getQuery(): string | undefined {
    return this.#queryStart < 0 ? undefined : this.#url.slice(this.#queryStart + 1);
  }

  getHeader(lowerCaseName: Uint8Array): string {
    const name = headerText(lowerCaseName);
    const headers = this.#headers;
    for (let i = 0; i < headers.length; i += 2) if (headers[i] === name) return headers[i + 1]!;
    return '';
  }

  forEach(take: (name: string, value: string) => void): void {
    const headers = this.#headers;
    for (let i = 0; i < headers.length; i += 2) take(headers[i]!, headers[i + 1]!);
  }
}
