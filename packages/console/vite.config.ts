import react from '@vitejs/plugin-react'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { defineConfig, type Plugin } from 'vite'

/** The service that the development server passes calls to. */
const api = process.env['API'] ?? 'http://127.0.0.1:8787'

/** Adds the script of the API reference at /docs, which the service serves from the same assets. */
const apiReference: Plugin = {
  name: 'api-reference',
  apply: 'build',
  generateBundle() {
    const entry = createRequire(import.meta.url).resolve('@scalar/api-reference')
    const file = join(dirname(entry), 'browser', 'standalone.js')
    this.emitFile({ type: 'asset', fileName: 'docs/scalar.js', source: readFileSync(file) })
  },
}

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), apiReference],
  resolve: {
    alias: { '@event-commerce/client': join(import.meta.dirname, '..', 'client', 'src', 'index.ts') },
  },
  build: {
    // The Worker answers each address of the console with index.html, which lies at the root of the assets.
    assetsDir: 'console/assets',
    target: 'es2022',
    // Tests compute the first load of a page from it. It is not served: see dist/.assetsignore.
    manifest: true,
    // The policy forbids the inline script of the polyfill. All browsers of the target know modulepreload.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
  },
  server: {
    port: 5173,
    strictPort: true,
    proxy: {
      '^/(v1|docs|dev|openapi\\.json|healthz|files|sign-in|s|console/preview)(/|$)': {
        target: api,
        changeOrigin: true,
      },
    },
  },
})
