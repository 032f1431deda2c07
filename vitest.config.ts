import { configDefaults, defineConfig } from 'vitest/config';

/** Their tests start browsers or processes, or hold much memory: each file has a process of its own. */
const ALONE = ['backup', 'bench', 'console', 'crash', 'data', 'fuzz', 'hosts'].map((folder) => `test/${folder}/**`);

export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 2,
    projects: [
      { extends: true, test: { name: 'alone', include: ALONE.map((folder) => `${folder}/*.test.ts`) } },
      // Modules are loaded once for all of these: loading them anew for every file takes a sixth of the whole run.
      {
        extends: true,
        test: {
          name: 'together',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...ALONE],
          isolate: false,
        },
      },
    ],
  },
});
