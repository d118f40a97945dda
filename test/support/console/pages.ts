import axe from 'axe-core'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, inject } from 'vitest'
import type { ConsoleService } from './setup.ts'

const axeRules = { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }
/** The rules that depend on the colour scheme. */
const colourRules = { type: 'rule', values: ['color-contrast'] }

/** The folder for pictures of the pages, if somebody wants to look at them. */
const pictures = process.env['PICTURES']

export const widths = [1280, 390] as const
export const schemes = ['light', 'dark'] as const

interface PageOptions {
  /** A role of the demonstration data such as `OA`, `root` for the superuser, or null for nobody. */
  as?: string | null
  /** A token of another person. */
  token?: string
  width?: number
  scheme?: 'light' | 'dark'
  locale?: string
  /** Errors in the console of the browser that the test causes, such as a refused call. */
  expects?: RegExp
}

export interface ConsoleTests {
  service: ConsoleService
  /** Opens a window of its own, in which nobody else is signed in. */
  openContext: (options?: PageOptions) => Promise<BrowserContext>
  /** Opens an address of the console, such as `/editions/…/orders`, in a window of its own. */
  openPage: (path: string, options?: PageOptions) => Promise<Page>
}

/** Waits until the page shows its content, and not what stands there while it loads. */
export async function waitForContent(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor()
  // The policy of the page forbids `waitForFunction`, which evaluates the text in the page.
  await expect
    .poll(() =>
      page.evaluate<number>(
        `document.querySelectorAll('.mantine-Skeleton-root, .mantine-Loader-root, [aria-busy="true"]').length`,
      ),
    )
    .toBe(0)
}

/** Reads one of the numbers that a page is about. */
export async function readFigure(page: Page, label: string): Promise<string> {
  const figure = page.locator('dl > div').filter({ has: page.locator('dt').getByText(label, { exact: true }) })
  return (await figure.locator('dd').first().textContent()) ?? ''
}

interface Violation {
  id: string
  nodes: { target: string[]; html: string; any: { message: string }[] }[]
}

/** Fails if the page has a fault that axe finds, or scrolls sideways. `isRecoloured` checks only the colours. */
export async function expectAccessible(page: Page, name: string, { isRecoloured = false } = {}): Promise<void> {
  // Nothing under the pointer shows a tooltip, and one that was shown goes.
  await page.mouse.move(0, 0)
  await expect.poll(() => page.locator('[role=tooltip]').count()).toBe(0)
  await page.evaluate(
    'Promise.all(document.getAnimations().map((animation) => animation.finished.catch(() => null))).then(() => null)',
  )
  if (pictures) {
    await mkdir(pictures, { recursive: true })
    await page.screenshot({ path: join(pictures, `${name}.png`) })
  }
  // The policy of the page does not concern scripts of the DevTools protocol.
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axe.source)
  const violations = await page.evaluate<Violation[]>(
    `axe.run({ runOnly: ${JSON.stringify(isRecoloured ? colourRules : axeRules)} }).then(({ violations }) => violations)`,
  )
  const faults = violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, html, any }) => `${id}: ${target.join(' ')} ${html.slice(0, 160)} ${any[0]?.message ?? ''}`),
  )
  expect(faults, name).toEqual([])
  const sideways = await page.evaluate<number>(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  )
  expect(sideways, `${name} scrolls sideways`).toBeLessThanOrEqual(0)
}

/** Connects the tests of a file with the server and the browser. After each test the browsers' consoles must be empty. */
export function useConsole(): ConsoleTests {
  const service = inject('consoleService')
  const contexts: BrowserContext[] = []
  let complaints: string[] = []
  let browser: Browser | undefined

  beforeAll(async () => {
    browser = await chromium.connect(service.browser)
  })
  afterEach(async ({ task }) => {
    const pages = contexts.flatMap((context) => context.pages())
    if (pictures && task.result?.state === 'fail')
      for (const [index, page] of pages.entries())
        await page.screenshot({ path: join(pictures, `failed-${task.id}-${index}.png`), fullPage: true })
    for (const context of contexts.splice(0)) await context.close()
    expect(complaints.splice(0)).toEqual([])
  })
  afterAll(() => browser?.close())

  async function openContext(options: PageOptions = {}): Promise<BrowserContext> {
    const { as = 'OA', width = 1280, scheme = 'light', locale = 'en-GB', expects } = options
    if (!browser) throw new Error('The browser is not connected yet.')
    const context = await browser.newContext({
      baseURL: service.url,
      viewport: { width, height: 860 },
      colorScheme: scheme,
      locale,
      reducedMotion: 'reduce',
    })
    contexts.push(context)
    context.setDefaultTimeout(60_000)
    const token = options.token ?? (as === 'root' ? service.rootToken : as === null ? null : service.tokens[as])
    if (token === undefined) throw new Error(`The demonstration data have no role ${as}.`)
    // Only the first page gets the token, so that nobody is signed in again after signing out.
    if (token !== null)
      await context.addInitScript(`if (self === top && location.pathname.startsWith('/console') && !sessionStorage.getItem('test-began')) {
        sessionStorage.setItem('test-began', 'yes')
        sessionStorage.setItem('ecm-token', ${JSON.stringify(token)})
      }`)
    const complain = (text: string) => {
      if (!expects?.test(text)) complaints.push(text)
    }
    context.on('page', (page) => {
      page.on('console', (message) => {
        if (['error', 'warning'].includes(message.type())) complain(`${page.url()}: ${message.text()}`)
      })
      page.on('pageerror', (error) => complain(`${page.url()}: ${error.message}`))
    })
    return context
  }

  return {
    service,
    openContext,
    openPage: async (path, options) => {
      const page = await (await openContext(options)).newPage()
      await page.goto(`/console${path}`)
      return page
    },
  }
}
