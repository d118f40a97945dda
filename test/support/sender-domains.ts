import { eq, getTableColumns } from 'drizzle-orm'
import { expect } from 'vitest'
import { senderDomains } from '../../src/db/schema/sender-domains.ts'
import { select } from '../../src/db/select.ts'
import { call, post, type Reply } from './api.ts'
import type { Domains } from './seeding/messaging/sender-domains.ts'
import { db } from './seeding/rows.ts'

export const setTexts = async (name: string, texts: string[]) => {
  const reply = await call(`/dev/dns/${name}`, { method: 'PUT', body: { texts }, token: null })
  expect([reply.status, reply.body]).toEqual([200, { texts: texts.toSorted() }])
}

/** Sets the DNS records of these domains, which share one name. */
export const prove = (...domains: Reply['body'][]) =>
  setTexts(
    domains[0].records[0].name,
    domains.map(({ records }) => records[0].value),
  )

export const verify = ({ path, token }: Domains, { id }: { id: string }, body: object = {}) =>
  post(`${path}/${id}/verify`, body, token)

export const outcome = ({ status, body }: Reply) => [status, body.status, body.last_check?.outcome]

export const loadDomain = (id: string) =>
  db.first(select(getTableColumns(senderDomains)).from(senderDomains).where(eq(senderDomains.id, id)))
