// The thread that decodes and encodes Parquet. It exists because decoding many rows would delay
// other work for too long.

import { parentPort } from 'node:worker_threads';
import { ParquetEncoder } from '../../formats/parquet-encoder.ts';
import { nodeFs } from '../../storage/index.ts';
import { lowerPriority } from '../../threads/priority.ts';
import { serve } from '../../threads/serve.ts';
import { ParquetDecoder } from './parquet-decoder.ts';
import type { ParquetCalls } from './parquet-remote.ts';

lowerPriority();
const port = parentPort!;
let decoder: ParquetDecoder | undefined;
let encoder: ParquetEncoder | undefined;

const receive = serve<ParquetCalls>(
  (message, transfer) => port.postMessage(message, transfer),
  {
    read: (path) => {
      decoder = new ParquetDecoder(nodeFs.open(path, 'read'));
      return decoder.names();
    },
    next: (columns) => decoder!.next(columns),
    write: (columns) => {
      encoder = new ParquetEncoder(columns);
    },
    add: (columns) => encoder!.add(columns),
    end: () => encoder!.end(),
  },
  (output) => (output instanceof Uint8Array ? [output.buffer as ArrayBuffer] : []),
);
port.on('message', receive);
