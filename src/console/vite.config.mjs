// Builds the console of src/console into build/console: hashed files beside one page, nothing inline, nothing from elsewhere.

import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: './',
  publicDir: false,
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: fileURLToPath(new URL('../../build/console', import.meta.url)),
    emptyOutDir: true,
    // The page stands at /, its files at /console/.
    assetsDir: 'console',
    target: 'es2022',
    // Files inlined as data: addresses would not pass the page's policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
    rolldownOptions: {
      checks: { bundlerTimings: false },
      treeshake: {
        // These packages do nothing by being imported: what nobody uses of them goes, classes with static fields too (a tenth of the editor).
        moduleSideEffects: [{ test: /node_modules\/@(codemirror|lezer)\//, sideEffects: false }],
      },
    },
  },
});
