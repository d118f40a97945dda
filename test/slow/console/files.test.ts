import { describe, expect, it } from 'vitest'
import { useConsole } from '../../support/console/pages.ts'

const { service } = useConsole()

async function load(path: string, init: RequestInit = {}) {
  const response = await fetch(service.url + path, { redirect: 'manual', ...init })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

async function findScript(): Promise<string> {
  const { text } = await load('/console')
  return /\/console\/assets\/[\w-]+\.js/.exec(text)?.[0] ?? ''
}

describe('a script of the console', () => {
  it('is stored for a year, because another version has another name', async () => {
    const path = await findScript()
    const { status, headers } = await load(path)
    expect(status).toBe(200)
    expect(headers.get('content-type')).toMatch(/^text\/javascript/)
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    // The Worker gives each of its answers an id. It did not run.
    expect(headers.get('x-request-id')).toBeNull()
    const again = await load(path, { headers: { 'if-none-match': headers.get('etag') ?? '' } })
    expect([again.status, again.text]).toEqual([304, ''])
  })

  it('that is gone is answered with 404 that nobody stores', async () => {
    const { status, headers } = await load('/console/assets/main-0a1b2c3d.js')
    expect([status, headers.get('cache-control')]).toEqual([404, 'no-store'])
    expect(headers.get('content-type')).toBe('application/problem+json')
  })
})

describe('files beside the scripts', () => {
  it('include the script of the API reference', async () => {
    const { status, headers } = await load('/docs/scalar.js')
    expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=86400'])
  })

  it('do not take the place of the start page', async () => {
    expect(JSON.parse((await load('/')).text)).toHaveProperty('docs')
    expect((await load('/index.html')).status).toBe(404)
  })

  it.for(['/_headers', '/.assetsignore', '/.vite/manifest.json'])('are not served: %s', async (path) => {
    expect((await load(path)).status).toBe(404)
  })
})
