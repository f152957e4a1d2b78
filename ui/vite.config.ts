// Owns how the window's front end is built: the product, and the mode `scripted` whose IPC is played from recorded
// data. It does not decide what is tested; see vitest.config.ts and vitest.e2e.config.ts.
import { fileURLToPath } from 'node:url'
import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vite'

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

export default defineConfig(({ mode }) => ({
  plugins: [
    svelte(),
    {
      // The tests' build gets the product's content policy as a tag, since no Tauri stands behind it.
      name: 'content-policy',
      transformIndexHtml: () =>
        mode === 'scripted'
          ? [
              {
                tag: 'meta',
                attrs: {
                  'http-equiv': 'Content-Security-Policy',
                  content:
                    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'",
                },
                injectTo: 'head-prepend' as const,
              },
            ]
          : [],
    },
  ],
  resolve: {
    alias: mode === 'scripted' ? [{ find: /^\.\/transport$/, replacement: here('tests/scripted.ts') }] : [],
  },
  base: './',
  clearScreen: false,
  server: { host: '127.0.0.1', port: 5173, strictPort: true },
  build: {
    target: 'es2022',
    sourcemap: false,
    chunkSizeWarningLimit: 1500,
    // Fonts stay files: a data address would be loaded with the style sheet even where it is not used.
    assetsInlineLimit: 0,
  },
}))
