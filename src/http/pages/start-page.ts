import { html } from 'hono/html'
import { layout } from './error-pages.ts'
import type { Markup } from './html-page.ts'

interface StartLink {
  path: string
  label: string
}

const name = 'Event Commerce Management Service'

const entries = {
  docs: { path: '/docs', label: 'Documentation of every operation' },
  errors: { path: '/docs/errors', label: 'What each error means, and what to do' },
  openapi: { path: '/openapi.json', label: 'The OpenAPI document' },
  health: { path: '/healthz', label: 'Whether the service works' },
} as const satisfies Record<string, StartLink>

const outbox = { path: '/dev/outbox', label: 'Messages that were kept instead of sent' } as const satisfies StartLink

/** Links to all documents, and to the dev mailbox if it exists. */
export const startLinks = (hasOutbox: boolean): Record<string, StartLink> =>
  hasOutbox ? { ...entries, outbox } : entries

export const startDocument = (links: Record<string, StartLink>, address: (path: string) => string) => ({
  name,
  ...Object.fromEntries(Object.entries(links).map(([key, { path }]) => [key, address(path)])),
})

export const startPage = (links: Record<string, StartLink>): Markup =>
  layout(
    name,
    html`<h1>${name}</h1>
      <ul class="codes plain">
        ${Object.values(links).map(
          ({ path, label }) =>
            html`<li>
              <a href="${path}"><code>${path}</code></a
              ><span>${label}</span>
            </li>`,
        )}
      </ul>`,
  )
