import { sql } from 'drizzle-orm'
import type { OutboundEmail } from '../../src/gateways/email/email.ts'
import { post, type Reply } from './api.ts'
import { createProvider, createReceiptEngine, type EmailRow, selectEmails } from './receipts.ts'
import { seedEdition } from './seeding/editions.ts'
import { givenMember, type Member } from './seeding/members.ts'
import { aBlock, seedMessage } from './seeding/messaging/email-messages.ts'
import { givenOrganization } from './seeding/organizations.ts'
import { db, type Place } from './seeding/rows.ts'

export interface TestDesk extends Place {
  message: string
  manager: Member
  editionManager: Member
}

const text = 'Hello {{ customer.first_name }} of {{ organization.name }}, <a href="https://example.com/map">the map</a>'

/** Makes an edition with a message of this type, and a manager of the organisation and one of the edition. */
export async function givenTestDesk(type: 'campaign' | 'receipt' = 'campaign'): Promise<TestDesk> {
  const organization = await givenOrganization()
  const edition = await seedEdition(organization, { name: 'Nordlys 2026', enabled_languages: ['en', 'da'] })
  const place = { organization: organization.id, edition: edition.id }
  const message = await seedMessage(place, { type, blocks: [aBlock(text)] })
  const manager = await givenMember(organization, 'manager')
  return { ...place, message, manager, editionManager: await givenMember(organization, 'manager', edition.id) }
}

export const sendTest = (message: string, body: Record<string, unknown>, token?: string): Promise<Reply> =>
  post(`/v1/email-messages/${message}/send-test`, body, token)

export const listTests = (organization: string): Promise<EmailRow[]> =>
  db.all(
    selectEmails()
      .where(sql`organization_id = ${organization} and kind = 'test_message'`)
      .orderBy(sql`id`),
  )

/** Sends everything that is due, and returns what arrived. */
export async function receiveTests(): Promise<OutboundEmail[]> {
  const provider = createProvider({ deduplicates: true })
  await createReceiptEngine(provider.gateway, Date.now() + 1000).run()
  return provider.calls.map(({ email }) => email)
}
