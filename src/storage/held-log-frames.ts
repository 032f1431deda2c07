// The frames of a stretch of the log that is held, while the log goes on: each file is checked, then read frame by frame.

import { corruption } from '../errors.ts';
import type { Crc32c } from './crc32c.ts';
import { FRAME_HEADER_BYTES, frameBytes, peekFrame, regionOf } from './frame.ts';
import type { Fs } from './fs.ts';
import { measureHeldFile } from './held-frames.ts';
import type { HeldLog, LogFrame } from './log.ts';
import { readFully } from './whole-file.ts';

/** Frames with an LSN above `held.afterLsn`, oldest first, up to `held.lastLsn`. Throws `corrupt`. */
export async function* heldLogFrames(
  fs: Fs,
  held: HeldLog,
  crc32c: Crc32c,
  pause: () => Promise<void>,
): AsyncGenerator<LogFrame> {
  for (const file of held.files) {
    const { offset: start, endOffset } = await measureHeldFile(fs, file, held.afterLsn, crc32c, pause);
    const handle = fs.open(file.path, 'read');
    try {
      for (let offset = start; offset < endOffset; ) {
        const head = new Uint8Array(FRAME_HEADER_BYTES);
        readFully(handle, head, offset);
        const frame = peekFrame(regionOf(head), 0);
        if (frame === null) throw corruption(file.path, offset, 'a frame that was there a moment ago is gone');
        const payload = new Uint8Array(frame.payloadBytes);
        readFully(handle, payload, offset + FRAME_HEADER_BYTES);
        offset += frameBytes(frame.payloadBytes);
        if (frame.operations > 0) yield { firstLsn: frame.firstLsn, operations: frame.operations, payload };
      }
    } finally {
      handle.close();
    }
  }
}
