import { eq, getTableColumns } from 'drizzle-orm'
import { expect } from 'vitest'
import { senderDomains } from '../../src/db/schema/messaging/sender-domains.ts'
import { select } from '../../src/db/select.ts'
import { call, post, type Reply } from './api.ts'
import { givenOrganisation } from './factories.ts'
import { db, next, seedAccount, seedMember, seedToken } from './seed.ts'

export async function givenAdmin() {
  const organisation = await givenOrganisation()
  const account = await seedAccount()
  await seedMember(account, { organization: organisation.id, role: 'admin' })
  const { token } = await seedToken(account)
  return { id: organisation.id, token, path: `/v1/organizations/${organisation.id}/sender-domains` }
}

export type Given = Awaited<ReturnType<typeof givenAdmin>>

export const aDomain = () => `nordlys-${next()}.example`

export async function added({ path, token }: Given, domain = aDomain()): Promise<Reply['body']> {
  const reply = await post(path, { domain }, token)
  expect(reply.status, reply.text).toBe(201)
  return reply.body
}

export const setTexts = async (name: string, texts: string[]) => {
  const reply = await call(`/dev/dns/${name}`, { method: 'PUT', body: { texts }, token: null })
  expect([reply.status, reply.body]).toEqual([200, { texts: texts.toSorted() }])
}

/** Sets the records of these domains, which have one name. */
export const prove = (...domains: Reply['body'][]) =>
  setTexts(
    domains[0].records[0].name,
    domains.map(({ records }) => records[0].value),
  )

export const verify = ({ path, token }: Given, { id }: { id: string }, body: object = {}) =>
  post(`${path}/${id}/verify`, body, token)

export const outcome = ({ status, body }: Reply) => [status, body.status, body.last_check?.outcome]

export const stored = (id: string) =>
  db().first(select(getTableColumns(senderDomains)).from(senderDomains).where(eq(senderDomains.id, id)))
