import { type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../src/context.ts'
import { newId } from '../../src/domain/ids.ts'
import { sweepEvents } from '../../src/modules/webhooks/jobs.ts'
import { seedEdition } from './seeding/editions.ts'
import { givenOrganization } from './seeding/organizations.ts'
import { db, type Place } from './seeding/rows.ts'
import { seedDeliveries } from './seeding/webhooks.ts'

export async function seedPlace(): Promise<Place> {
  const organization = await givenOrganization()
  const edition = await seedEdition(organization)
  return { organization: organization.id, edition: edition.id }
}

export const count = async (query: SQL): Promise<number> => {
  const row = await db.first(sql<{ n: number }>`select count(*) as n from (${query})`)
  return row?.n ?? -1
}

export const countEvents = (endpoint: string) =>
  count(sql`select 1 from webhook_deliveries join webhook_events on webhook_events.id = event_id
    where endpoint_id = ${endpoint}`)
interface DeliveryOptions {
  at: number
  many: number
  status?: 'success'
}

export async function seedAt(place: Place, endpoint: string, { at, many, ...columns }: DeliveryOptions): Promise<void> {
  for (let index = 0; index < many; index++) {
    const event_id = newId('webhook_event', at, Math.random)
    await seedDeliveries(place, endpoint, 1, { event_id, created_at: at, ...columns })
  }
}

export const runUntilDone = async (job: JobCtx) => {
  for (let times = 0; times < 10; times++) await sweepEvents(job)
}
