import { chromium } from 'playwright-core'
import { describe, expect, inject, it } from 'vitest'
import { createClient } from '../../../scripts/support/client.ts'
import { expectAccessible, schemes, useConsole, waitForContent, widths } from '../../support/console/pages.ts'

const service = inject('consoleService')
const api = createClient(service.url, service.rootToken)

/** The paths of all pages, from the router in the browser. A page that is added is tested without a line here. */
async function listPaths(): Promise<string[]> {
  const browser = await chromium.connect(service.browser)
  try {
    const page = await browser.newPage()
    await page.goto(`${service.url}/console/sign-in`)
    await page.locator('h1').waitFor()
    const paths = await page.evaluate<string[]>(
      'Object.values(__TSR_ROUTER__.routesByPath).filter(({ children }) => !children).map(({ fullPath }) => fullPath)',
    )
    return [...new Set(paths)].toSorted()
  } finally {
    await browser.close()
  }
}

const edition = service.ids['nordlys.current'] ?? ''
const organization = service.ids['nordlys'] ?? ''

/** The lists in which the first resource is the one of the page. */
const lists: Record<string, string> = {
  campaign: `/v1/campaigns?edition_id=${edition}`,
  order: `/v1/orders?edition_id=${edition}`,
}

/** Replaces the parameters of a path by ids of the demonstration data. */
async function fillPath(path: string): Promise<string> {
  const ids = new Map([
    ['edition', edition],
    ['organization', organization],
  ])
  for (const [, name = ''] of path.matchAll(/\$(\w+)/g)) {
    if (ids.has(name)) continue
    const list = lists[name]
    if (list === undefined) throw new Error(`\`lists\` does not say which $${name} the page ${path} shows.`)
    const { results } = await api.get<{ results: { id: string }[] }>(list)
    ids.set(name, results[0]?.id ?? '')
  }
  return path.replaceAll(/\$(\w+)/g, (_, name: string) => ids.get(name) ?? '')
}

/** They lead somewhere else. */
const redirects = new Set(['/'])
/** Only the superuser sees them. */
const isOfSuperuser = (path: string): boolean => path.startsWith('/system')

const paths = (await listPaths()).filter((path) => !redirects.has(path))
const browser = useConsole()

describe('every page of the console', () => {
  it.for(paths)('is accessible at both widths, in light and dark: %s', async (path) => {
    const address = await fillPath(path)
    const page = await browser.openPage(address, { as: isOfSuperuser(path) ? 'root' : 'OA' })
    await waitForContent(page)
    expect(await page.title()).toMatch(/. · Event Commerce$/)
    for (const width of widths)
      for (const colorScheme of schemes) {
        await page.setViewportSize({ width, height: 860 })
        await page.emulateMedia({ colorScheme })
        await waitForContent(page)
        await expectAccessible(page, `${path.replaceAll(/\W+/g, '-').slice(1)}-${width}-${colorScheme}`)
      }
  })
})
