// Owns how the window as a whole is tested: the scripted build in Chromium, one file after another.
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    environment: 'node',
    include: ['tests/e2e/**/*.test.ts'],
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // As long as Playwright waits: a second is short on a machine that does other things as well.
    expect: { poll: { timeout: 30_000 } },
  },
})
