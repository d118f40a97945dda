import react from '@vitejs/plugin-react'
import { join } from 'node:path'
import { defineConfig } from 'vite'

/** The service that the development server passes calls to. */
const api = process.env['API'] ?? 'http://127.0.0.1:8787'

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  resolve: {
    alias: { '@event-commerce/client': join(import.meta.dirname, '..', 'client', 'src', 'index.ts') },
  },
  build: {
    outDir: 'dist',
    // The Worker answers each address of the console with index.html, which lies at the root of the assets.
    assetsDir: 'console/assets',
    target: 'es2022',
    // The policy forbids the inline script of the polyfill. All browsers of the target know modulepreload.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
  },
  server: {
    port: 5173,
    strictPort: true,
    proxy: { '^/(v1|docs|dev|openapi\\.json|healthz|files|sign-in|s)(/|$)': { target: api, changeOrigin: true } },
  },
})
