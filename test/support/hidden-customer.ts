import { sql } from 'drizzle-orm'
import { insertEditionCustomers } from '../../src/db/customers.ts'
import { campaigns } from '../../src/db/schema/campaigns.ts'
import { users } from '../../src/db/schema/customers.ts'
import { update } from '../../src/db/write.ts'
import { buildSearchColumns } from '../../src/domain/accounts/users.ts'
import { buildBareMembership } from './seeding/customers.ts'
import { inRecipientStore } from './seeding/messaging/campaigns.ts'
import { db, write } from './seeding/rows.ts'
import { anOrder, importOrders } from './seeding/sales/orders.ts'
import type { World } from './world.ts'

/** Values of the edition's customer that an edition role may never see. No other text contains them. */
export const hidden = {
  email: 'zmarker@hidden.example',
  phone_number: '+4560708090',
  first_name: 'Zmarkername',
  last_name: 'Zmarkersurname',
  metadata: 'zmarkermetadata',
  last_seen: '2001-02-03',
  joined: '2002-03-04',
  detail: 'zmarkerdetail',
}

const marks = [
  'zmarker',
  'hidden.example',
  '60708090',
  encodeURIComponent(hidden.email),
  hidden.last_seen,
  hidden.joined,
] as const

export const findMarks = (text: string): string[] =>
  marks.filter((mark) => text.toLowerCase().includes(mark.toLowerCase()))

/** A recipient of the edition's campaign, whom the provider refused with its own words. */
async function seedRecipient(campaign: string, user: { id: string; seq: number }): Promise<void> {
  const { email, phone_number, first_name, last_name } = hidden
  const person = JSON.stringify({ id: user.id, email, phone_number, first_name, last_name })
  await inRecipientStore(campaign, (store) =>
    store.transaction(() => {
      store.addRecipients(
        [{ n: user.seq, user_id: user.id, address: email, language: 'en', person, conditions: 0, reason: null }],
        'email',
      )
      const detail = `${hidden.detail} ${email}`
      store.recordOutcomes(new Map([[user.seq, { to: 'failed', reason: 'rejected', code: 'http_550', detail }]]), false)
      store.changeRecord({ run: 1, status: 'sent' })
    }),
  )
  await write(update(campaigns, { run: 1, status: 'sent' }, sql`id = ${campaign}`))
}

/**
 * Adds the customer of the first edition to the second edition. Samples name this customer. The first edition has an
 * old number of the customer.
 */
export async function hideCustomer({ a }: World): Promise<{ id: string; seq: number }> {
  const [edition, sibling] = a.editions
  const { email, phone_number, first_name, last_name } = hidden
  await write(
    update(users, { email }, sql`id = ${edition.user}`),
    ...insertEditionCustomers([buildBareMembership(sibling.id, edition.user)]),
  )
  const formerNumber = await db.first(
    sql<{ phone_number: string }>`select phone_number from users where id = ${edition.user}`,
  )
  await importOrders(
    { organization_id: a.id, edition_id: edition.id },
    [anOrder({ customer: { phone_number: formerNumber?.phone_number } })],
    { emit_webhooks: true },
  )
  const contact = { email, phone_number, first_name, last_name }
  const row = {
    ...contact,
    ...buildSearchColumns(contact),
    metadata: { note: hidden.metadata },
    is_verified: true,
    last_seen_at: Date.parse(hidden.last_seen),
    created_at: Date.parse(hidden.joined),
  }
  await write(
    update(users, row, sql`id = ${edition.user}`),
    sql`update webhook_events set payload = (select payload from webhook_events as made
        where made.edition_id = ${edition.id} and made.payload like ${`%${edition.user}%`} limit 1)
      where id = (select event_id from webhook_deliveries where id = ${edition.delivery})`,
  )
  const user = await db.first(sql<{ id: string; seq: number }>`select id, seq from users where id = ${edition.user}`)
  if (!user) throw new Error('the world has no customer')
  await seedRecipient(edition.campaign, user)
  return user
}

/** Adds the customer to every calculated segment of the edition. */
export const joinSegments = ({ a }: World, user: { seq: number }): Promise<void> =>
  write(sql`insert into segment_members (segment_seq, epoch, user_seq)
    select seq, members_epoch, ${user.seq} from segments where edition_id = ${a.editions[0].id} and members_epoch > 0
    on conflict do nothing`)
