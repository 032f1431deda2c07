// The thread that decodes and encodes Parquet: the columns of many rows take longer than others may wait.

import { parentPort } from 'node:worker_threads';
import type { HedgerowError } from '../../errors.ts';
import { ParquetEncoder } from '../../formats/parquet-encoder.ts';
import { nodeFs } from '../../storage/index.ts';
import { ParquetDecoder } from './parquet-decoder.ts';
import type { ThreadAnswer, ThreadWork } from './parquet-remote.ts';

const port = parentPort!;
let decoder: ParquetDecoder | undefined;
let encoder: ParquetEncoder | undefined;

async function answer(work: ThreadWork): Promise<unknown> {
  switch (work.kind) {
    case 'read':
      decoder = new ParquetDecoder(nodeFs.open(work.path, 'read'));
      return decoder.names();
    case 'next':
      return decoder!.next(work.columns);
    case 'write':
      encoder = new ParquetEncoder(work.columns);
      return undefined;
    case 'add':
      return encoder!.add(work.columns);
    case 'end':
      return encoder!.end();
  }
}

// One call at a time: the next one comes when the answer is out.
port.on('message', (work: ThreadWork) => {
  answer(work).then(
    (value) =>
      port.postMessage(
        { value } satisfies ThreadAnswer,
        value instanceof Uint8Array ? [value.buffer as ArrayBuffer] : [],
      ),
    ({ message, code, fields }: HedgerowError) =>
      port.postMessage({ error: { message, code, fields } } satisfies ThreadAnswer),
  );
});
