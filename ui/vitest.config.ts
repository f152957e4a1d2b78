// Owns how units and components are tested: in a document without a browser. The window as a whole is tested in
// vitest.e2e.config.ts.
import { fileURLToPath } from 'node:url'
import { svelte } from '@sveltejs/vite-plugin-svelte'
import { svelteTesting } from '@testing-library/svelte/vite'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  // Components speak to the scripted transport, as in the browser's tests.
  resolve: {
    alias: [{ find: /^\.\/transport$/, replacement: fileURLToPath(new URL('tests/scripted.ts', import.meta.url)) }],
  },
  plugins: [svelte(), svelteTesting()],
  test: {
    environment: 'jsdom',
    include: ['tests/**/*.test.ts'],
    exclude: ['tests/e2e/**', 'tests/desktop/**', 'node_modules/**'],
    setupFiles: ['tests/unit/document.ts'],
    restoreMocks: true,
  },
})
