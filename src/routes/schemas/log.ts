// Schemas of the routes for followers.

import { bytes, described, integerText, v } from '../../http/schema.ts';
import { MOST_WAIT_SECONDS } from './changes.ts';

export const BYTES_TYPE = 'application/octet-stream';
export const GZIP_TYPE = 'application/gzip';

export const logQuery = v.object({
  from_lsn: described(
    v.pipe(integerText(), v.minValue(0)),
    'Frames after this LSN, which must be the last one of a frame.',
  ),
  wait_s: v.optional(
    described(
      v.pipe(integerText(), v.minValue(0), v.maxValue(MOST_WAIT_SECONDS)),
      'End the answer when there is nothing to send for this many seconds. Default: never.',
    ),
  ),
  sum: v.optional(
    described(
      v.pipe(integerText(), v.minValue(0), v.maxValue(2 ** 32 - 1)),
      "CRC32C of the payload of the follower's frame that ends at `from_lsn`, continued from its second. If the leader has another frame there, it answers 409 `log_diverged`.",
    ),
  ),
});

export const logAnswer = described(
  bytes(),
  'A stream of frames, whose bytes are described in `src/follow/frame-stream.ts`.',
);
export const snapshotAnswer = described(bytes(), 'A backup archive, as `hedgerow restore` takes it.');
