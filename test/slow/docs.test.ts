import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Server, startServer } from '../../scripts/support/server.ts'
import { type Browser, openBrowser } from '../support/browser.ts'

let folder: string
let server: Server
let browser: Browser

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'docs-'))
  server = await startServer({ port: 0, stateDir: folder, env: {} })
  browser = await openBrowser()
})
afterAll(async () => {
  await browser?.stop()
  await server?.stop()
  if (folder) await rm(folder, { recursive: true, force: true })
})

/** Waits for the reference to show this place, and returns its text. */
async function readTextAt(place: string, awaited: string): Promise<string> {
  // A change of only the hash would load nothing.
  await browser.send('Page.navigate', { url: 'about:blank' })
  await browser.send('Page.navigate', { url: `${server.url}/docs#${place}` })
  for (let tries = 0; tries < 120; tries++) {
    const text = await browser.evaluate<string>('document.body?.innerText ?? ""')
    if (text.includes(awaited)) return text
    await wait(250)
  }
  throw new Error(`The reference does not show "${awaited}" at ${place}.`)
}

describe.each([1280, 390])('the API reference in a window of %i pixels', (width) => {
  beforeAll(async () => {
    const screen = { width, height: 900, deviceScaleFactor: 1, mobile: false }
    await browser.send('Emulation.setDeviceMetricsOverride', screen)
  })

  it('explains the roles, and describes each group above its operations', async () => {
    expect(await readTextAt('', 'Roles.')).toContain('EA, EM and EV are the same for one edition')
    const group = await readTextAt('tag/organizations', 'Organisations run events.')
    expect(group).toContain('/v1/organizations/{id}/members')
  })

  it('shows an example of each answer', async () => {
    const operation = await readTextAt('tag/editions/GET/v1/editions/{id}', '"full_name": "')
    expect(operation).toContain('Roles: OA')
  })

  it('shows the events under their kinds, each with a payload', async () => {
    const kind = await readTextAt('tag/purchase-events', '"type": "purchase.action"')
    expect(kind).toContain('The state of a purchase has changed')
  })

  it('does not scroll sideways, and loads nothing from other hosts', async () => {
    await readTextAt('tag/campaigns', 'A message by e-mail or SMS to the people of a segment')
    const page = await browser.evaluate<{ scroll: number; client: number; loaded: string[] }>(
      `({ scroll: document.documentElement.scrollWidth, client: document.documentElement.clientWidth,
        loaded: performance.getEntriesByType('resource').map(({ name }) => name) })`,
    )
    expect(page.scroll).toBe(page.client)
    expect(page.loaded).toContain(`${server.url}/openapi.json`)
    for (const address of page.loaded) expect(address.startsWith(`${server.url}/`) || address).toBe(true)
  })
})
