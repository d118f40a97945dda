import { sql } from 'drizzle-orm'
import { expect } from 'vitest'
import { userEditions } from '../../src/db/schema/users.ts'
import { insert } from '../../src/db/write.ts'
import { chainFault, type StoredRecord } from '../../src/domain/consents/consent-records.ts'
import { call, type Reply, rootToken } from './api.ts'
import { seedEdition } from './seeding/editions.ts'
import { givenEvent, givenOrganization } from './seeding/organizations.ts'
import { db, seededAt, write } from './seeding/rows.ts'
import { seedTrade } from './seeding/trades.ts'
import { givenConsent } from './seeding/consents.ts'

export interface Shop {
  organization: string
  edition: string
  user: string
  order: string
}

/** An organisation with an edition, in which one customer has an order. */
export async function seedBuyer(): Promise<Shop> {
  const organization = await givenOrganization()
  const event = await givenEvent(organization)
  const edition = await seedEdition(organization, { event_id: event.id })
  const trade = await seedTrade({ organization: organization.id, edition: edition.id })
  return { organization: organization.id, edition: edition.id, user: trade.user, order: trade.order }
}

/** Another edition of the organisation, which knows the person if one is given. Answers its id. */
export async function seedSibling({ organization }: Shop, user?: string): Promise<string> {
  const { id } = await seedEdition({ id: organization })
  if (user !== undefined) await write(insert(userEditions, { edition_id: id, user_id: user, created_at: seededAt }))
  return id
}

/** A definition that the person of the shop can answer. */
export async function givenQuestion({ organization, user }: Shop, fields: Record<string, unknown> = {}) {
  const definition = await givenConsent(organization, fields)
  return { user, consent: definition.id as string, definition }
}

/** Status, code, and each fault with its place. */
export const codeOf = ({ status, body }: Reply): (string | number)[] => [
  status,
  body.code,
  ...body.errors.map(({ code, attr }: { code: string; attr: string | null }) => `${code} ${attr}`),
]

const anAnswer = (fields: Record<string, unknown> = {}) => ({
  language: 'da',
  method: 'checkbox',
  source: 'checkout',
  ...fields,
})

export const answer = (
  action: 'give' | 'skip' | 'withdraw',
  at: { user: string; consent: string },
  fields: Record<string, unknown> = {},
  token = rootToken,
): Promise<Reply> =>
  call(`/v1/user/${at.user}/consents/${at.consent}/${action}`, { method: 'POST', body: anAnswer(fields), token })

export const recordsOf = (user: string, consent: string): Promise<StoredRecord[]> =>
  db.all(sql<StoredRecord>`select * from consent_records where user_id = ${user} and consent_id = ${consent}
    order by number`)

/** Every chain of an organisation holds, and each person has one latest record of each definition. */
export async function expectWhole(organization: string): Promise<void> {
  const rows = await db.all(sql<StoredRecord>`select * from consent_records where organization_id = ${organization}
    order by user_id, consent_id, number`)
  for (const chain of Map.groupBy(rows, (row) => `${row.user_id} ${row.consent_id}`).values())
    expect(await chainFault(chain)).toBeNull()
}

export const eventsOf = (
  organization: string,
): Promise<{ kind: string; edition_id: string | null; payload: string }[]> =>
  db.all(sql<{ kind: string; edition_id: string | null; payload: string }>`select kind, edition_id, payload
    from webhook_events where organization_id = ${organization} order by id`)
