import { env } from 'cloudflare:workers'
import { expect } from 'vitest'
import { findSweepPosition, type SweepPosition } from '../../src/db/sweeps/sweep-positions.ts'
import { checkOrderTexts } from '../../src/modules/orders/jobs.ts'
import { checkCustomerTexts } from '../../src/modules/users/jobs.ts'
import { db } from './seeding/rows.ts'

export const dayMs = 86_400_000
let nights = 0
/** A moment of a night that no test had before. */
export const nextNight = () => Date.UTC(2026, 5, 1, 3) + ++nights * dayMs

export type Sweep = typeof checkOrderTexts

/** Ids that a sweep names. */
export async function namedIn(run: () => Promise<unknown>): Promise<string[]> {
  const error = await run().then(() => '', String)
  expect(error).toMatch(/^$|^Error: Texts of (orders|users) were missing from the index and are put in: /)
  return error.match(/\b(ord|usr)_\w+/g) ?? []
}

/** Ids that sweeps of a night name. One each minute, until all rows have been looked at. */
export async function namedBy(sweep: Sweep, begin = nextNight(), database = db): Promise<string[]> {
  const named: string[] = []
  const name = sweep === checkOrderTexts ? 'check order_search' : 'check customer_search'
  let position: SweepPosition | null = null
  for (let minute = 0; position?.after !== ''; minute++) {
    named.push(...(await namedIn(() => sweep({ db: database, now: () => begin + minute * 60_000 }))))
    position = await findSweepPosition(db, name)
  }
  return named.toSorted()
}

export const namedAtNight = async () =>
  [...(await namedBy(checkOrderTexts)), ...(await namedBy(checkCustomerTexts))].toSorted()

/** The columns that a row has in the index. */
export const columnsOf = {
  orders: `seq, char(unicode(substr(edition_id, -3)) + 736, unicode(substr(edition_id, -2)) + 736,
    unicode(substr(edition_id, -1)) + 736) as edition, char(unicode(substr(organization_id, -3)) + 917728,
    unicode(substr(organization_id, -2)) + 917728, unicode(substr(organization_id, -1)) + 917728) as organization,
    own_search_text as text`,
  users: `seq, '' as edition, char(unicode(substr(organization_id, -3)) + 917728, unicode(substr(organization_id, -2)) + 917728,
    unicode(substr(organization_id, -1)) + 917728) as organization, search_text as text`,
}
export const indexes = { orders: 'order_search', users: 'customer_search' }
export type LostPart = 'all' | 'a sequence' | 'the end' | 'a mark'

/** Takes what a row has, or a part of it, out of the index behind the triggers. */
export async function takeOut(table: 'orders' | 'users', id: string, part: LostPart = 'all'): Promise<void> {
  const [marks, text] = {
    all: ['organization', 'text'],
    'a sequence': [`''`, 'substr(text, length(text) / 2, 3)'],
    'the end': [`''`, 'substr(text, -3)'],
    'a mark': ['organization', `''`],
  }[part] as [string, string]
  const index = indexes[table]
  await env.DB.prepare(
    `insert into ${index} (${index}, rowid, organization, text)
      select 'delete', seq, ${marks}, ${text} from (select ${columnsOf[table]} from ${table} where id = ?)`,
  )
    .bind(id)
    .run()
}
