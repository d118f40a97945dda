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

/** Lists in which the first resource is the one of the page, by the name of the parameter. */
const lists: Record<string, string> = {
  campaign: `/v1/campaigns?edition_id=${edition}`,
  consent: `/v1/consents?organization_id=${organization}`,
  customer: `/v1/user?edition_id=${edition}`,
  delivery: `/v1/webhooks/deliveries?organization_id=${organization}`,
  import: `/v1/data-imports?edition_id=${edition}`,
  message: `/v1/email-messages?edition_id=${edition}`,
  order: `/v1/orders?edition_id=${edition}`,
  product: `/v1/products?edition_id=${edition}`,
  refund: `/v1/refund-requests?edition_id=${edition}`,
  segment: `/v1/segments?organization_id=${organization}`,
  webhook: `/v1/webhooks?edition_id=${edition}`,
}

const loadFirst = async (list: string): Promise<string> =>
  (await api.get<{ results: { id: string }[] }>(list)).results[0]?.id ?? ''

const makeConsent = async (): Promise<string> => {
  const body = {
    organization_id: organization,
    edition_id: edition,
    key: 'footer-of-the-site',
    name: 'Footer of the site',
    title: { en: 'News', da: 'Nyt' },
    text: { en: 'Write to me.', da: 'Skriv til mig.' },
    type: 'marketing',
    channels: ['email'],
    legal_basis: 'consent',
  }
  return (await api.post<{ id: string }>('/v1/consents', body)).id
}

/** Functions that make what the demonstration data lack. */
const makers: Record<string, () => Promise<{ id: string }>> = {
  batch: () =>
    api.post(`/v1/editions/${edition}/refund-batches`, {
      filter: {},
      amount: 'percent',
      percent: 50,
      reason: 'event_changed',
    }),
  form: async () =>
    api.post('/v1/signup-forms', {
      organization_id: organization,
      edition_id: edition,
      name: 'Footer of the site',
      title: { en: 'News', da: 'Nyt' },
      text: { en: 'We write once a month.', da: 'Vi skriver hver måned.' },
      languages: ['en', 'da'],
      consent_ids: [await makeConsent()],
    }),
  refund: async () =>
    api.post('/v1/refund-requests', {
      order_id: await loadFirst(`/v1/orders?edition_id=${edition}&status=completed`),
      amount: 1,
      reason: 'customer_request',
    }),
}

async function findId(name: string, path: string): Promise<string> {
  const list = lists[name]
  const make = makers[name]
  const existingId = list === undefined ? '' : await loadFirst(list)
  if (existingId !== '') return existingId
  if (make) return (await make()).id
  throw new Error(`Neither \`lists\` nor \`makers\` says which $${name} the page ${path} shows.`)
}

/** Replaces the parameters of a path by ids of the demonstration data. */
async function fillPath(path: string): Promise<string> {
  const ids = new Map([
    ['edition', edition],
    ['organization', organization],
  ])
  for (const [, name = ''] of path.matchAll(/\$(\w+)/g)) if (!ids.has(name)) ids.set(name, await findId(name, path))
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
        const name = `${path.replaceAll(/\W+/g, '-').slice(1)}-${width}-${colorScheme}`
        await expectAccessible(page, name, { isRecoloured: colorScheme !== schemes[0] })
      }
  })
})
