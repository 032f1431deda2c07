// Builds the console of src/console into build/console: hashed files beside one page, nothing
// inline, nothing from elsewhere.

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
    // Half of what completion weighs would be parsers of languages.
    alias: { '@codemirror/language': fileURLToPath(new URL('editor/no-language.mjs', import.meta.url)) },
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: fileURLToPath(new URL('../../build/console', import.meta.url)),
    emptyOutDir: true,
    // The page stands at /, its files at /console/.
    assetsDir: 'console',
    target: 'es2022',
    // Files inlined as data: addresses would not pass the page's policy.
    assetsInlineLimit: 0,
    // The page names what an editor needs before that has come; what other parts share they ask for
    // themselves.
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
            // What the page begins with is one file, not one for each set of views that share a
            // part of it.
            { name: 'begin', tags: ['$initial'] },
            // Its name changes with the library, not with each change of the console.
            {
              name: 'code-mirror',
              test: /node_modules.(@codemirror.(state|view)|@marijn|style-mod|w3c-keyname|crelt)\b/,
            },
          ],
        },
      },
      treeshake: {
        // Nothing here reads a member only for what the reading does.
        propertyReadSideEffects: false,
        unknownGlobalSideEffects: false,
        // These packages do nothing by being imported: what nobody uses of them goes, classes with
        // static fields too (a tenth of the editor).
        moduleSideEffects: [{ test: /node_modules\/@(codemirror|lezer)\//, sideEffects: false }],
      },
    },
  },
});
