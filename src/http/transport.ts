// What the rest of http/ needs of a response and a request of the transport (uWebSockets.js; only server.ts knows it by name).

export interface TransportResponse {
  writeStatus(status: string): unknown;
  writeHeader(name: string | Uint8Array, value: string | Uint8Array): unknown;
  /** Sends a chunk; false when the client reads slower than we write. */
  write(chunk: Uint8Array): boolean;
  end(body: string | Uint8Array, closeConnection?: boolean): unknown;
  /**
   * Ends with this body when the client has read enough of what was sent before: what cannot be sent is not kept but left to be tried again, from
   * `getWriteOffset` on, when `onWritable` calls. The first result: all of `body` was taken; the second: the answer is complete.
   */
  tryEnd(body: string | Uint8Array, totalSize: number): [isTaken: boolean, isComplete: boolean];
  /** Bytes of the body that were taken. */
  getWriteOffset(): number;
  /** Ends after the headers. Give no length here: write Content-Length first. */
  endWithoutBody(): unknown;
  /** Closes the connection at once; what was written may be lost. */
  close(): unknown;
  /** Everything written outside the request callback goes through here. */
  cork(write: () => void): unknown;
  onWritable(resume: (offset: number) => boolean): unknown;
  onAborted(aborted: () => void): unknown;
  /** Of the client: 4 or 16 bytes. Only while the response is open. */
  getRemoteAddress(): ArrayBuffer;
  onData(take: (chunk: ArrayBuffer, isLast: boolean) => void): unknown;
}

/** Only valid until the request callback returns. */
export interface TransportRequest {
  getUrl(): string;
  /** The raw query string; undefined without `?`. Never call it with a name: that overwrites the raw text. */
  getQuery(): string | undefined;
  getHeader(lowerCaseName: Uint8Array): string;
  forEach(take: (name: string, value: string) => void): void;
}
