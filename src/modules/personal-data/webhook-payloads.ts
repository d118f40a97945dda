import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import type { ErasureRow } from './erasure-statements.ts'

const eventsAStep = 2000

/** The value with the texts of every object that is the person blanked, but for the id. */
function withoutPerson(value: unknown, userId: string): unknown {
  if (Array.isArray(value)) return value.map((one) => withoutPerson(one, userId))
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value)
  const isPerson = fields.some(([name, one]) => (name === 'api_id' || name === 'id') && one === userId)
  return Object.fromEntries(
    fields.map(([name, one]) => [
      name,
      isPerson && typeof one === 'string' && one !== userId ? null : withoutPerson(one, userId),
    ]),
  )
}

interface Walked {
  last: string
  n: number
}

/** Blanks the person in the next events of webhooks. Answers the id of the last one read, null when there are no more. */
export async function blankEvents({ db }: Pick<JobCtx, 'db'>, erasure: ErasureRow): Promise<string | null> {
  const { event_after, organization_id, user_id } = erasure
  const walked = sql`select id, organization_id, payload from webhook_events where id > ${event_after}
    order by id limit ${eventsAStep}`
  const [found, [end]] = await db.batch([
    sql<{ id: string; payload: string }>`select id, payload from (${walked})
      where organization_id = ${organization_id} and instr(payload, ${user_id}) > 0`,
    sql<Walked>`select max(id) as last, count(*) as n from (select id from webhook_events where id > ${event_after}
      order by id limit ${eventsAStep})`,
  ])
  const blanked = found.map(({ id, payload }) => [id, JSON.stringify(withoutPerson(JSON.parse(payload), user_id))])
  if (blanked.length)
    await db.batch([
      sql`update webhook_events set payload = given.value ->> 1 from json_each(${JSON.stringify(blanked)}) as given
        where webhook_events.id = given.value ->> 0`,
    ])
  return end && end.n === eventsAStep ? end.last : null
}
