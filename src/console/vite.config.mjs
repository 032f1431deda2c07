// Configures the build of src/console into build/console: one page, and files with hashed names
// next to it. Nothing is inline, and nothing is loaded from other hosts.

import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { withoutUnusedStyles } from './editor/unused-styles.mjs';
import { packFiles } from './pack-files.mjs';

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  base: './',
  publicDir: false,
  plugins: [withoutUnusedStyles, packFiles],
  resolve: {
    // Language parsers would be half of the bytes of completion.
    alias: { '@codemirror/language': fileURLToPath(new URL('editor/no-language.mjs', import.meta.url)) },
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: fileURLToPath(new URL('../../build/console', import.meta.url)),
    emptyOutDir: true,
    // The page is served at /, and its files at /console/.
    assetsDir: 'console',
    target: 'es2022',
    // The page's content security policy forbids data: addresses, so no file is inlined.
    assetsInlineLimit: 0,
    // The page preloads only the editor's files and the style sheets. Other parts load the files
    // that they share when they need them.
    modulePreload: {
      polyfill: false,
      resolveDependencies: (_, files) => files.filter((name) => /\.css$|code-mirror/.test(name)),
    },
    chunkSizeWarningLimit: 700,
    rolldownOptions: {
      checks: { bundlerTimings: false },
      output: {
        codeSplitting: {
          groups: [
            // Everything that the first page needs is one file, instead of one file for each set
            // of views that share code.
            { name: 'begin', tags: ['$initial'] },
            // The name of this file changes only with the library, not with each change of the
            // console, so browsers can keep it in their caches.
            {
              name: 'code-mirror',
              test: /node_modules.(@codemirror.(state|view)|@marijn|style-mod|w3c-keyname|crelt)\b/,
            },
          ],
        },
      },
      treeshake: {
        // No code here reads a property only for a side effect of reading it.
        propertyReadSideEffects: false,
        unknownGlobalSideEffects: false,
        // Importing these packages has no side effects, so unused exports are removed, including
        // classes with static fields (a tenth of the editor).
        moduleSideEffects: [{ test: /node_modules\/@(codemirror|lezer)\//, sideEffects: false }],
      },
    },
  },
});
