import { sql } from 'drizzle-orm'
import { beforeEach, describe, expect, it } from 'vitest'
import { workOnImport } from '../../src/modules/data-imports/background/work.ts'
import { get } from '../support/api.ts'
import { expectWhole, listRecords } from '../support/consents.ts'
import { countContents } from '../support/orders.ts'
import { aRow } from '../support/seeding/imports/staged-imports.ts'
import { givenConsent } from '../support/seeding/messaging/consents.ts'
import { db, write } from '../support/seeding/rows.ts'
import { anOrder, importOrders } from '../support/seeding/sales/orders.ts'
import { givenTwo, loadCustomer } from '../support/shared-customers.ts'
import { createImporter } from '../support/staged-imports.ts'
import { beginUndo, importFile, listUndone, undoToEnd } from '../support/undone-imports.ts'

const email = 'returning@example.dk'
const contact = { first_name: 'Ægir', phone_number: '+4520304050' }
const noContact = { first_name: '', phone_number: null }

type Two = Awaited<ReturnType<typeof givenTwo>>
let two: Two
let consent: { id: string; key: string }
beforeEach(async () => {
  two = await givenTwo()
  consent = (await givenConsent(two.mine.organization_id, {})) as typeof consent
  await write(
    sql`update consents set created_at = 0 where id = ${consent.id}`,
    sql`update consent_versions set created_at = 0 where consent_id = ${consent.id}`,
  )
})

/** The other edition knows the customer by the address alone. */
const joinTheirs = () => importOrders(two.theirs, [anOrder({ customer: { email } })])

/** An admin of the organisation imports an order of the customer, which gives them a name, a number and a consent. */
const importReturning = () =>
  importFile(two.mine, [
    aRow({
      'customer.email': email,
      'customer.first_name': contact.first_name,
      'customer.phone_number': contact.phone_number,
      [`consent.${consent.key}`]: true,
    }),
    aRow(),
  ])

const listStatuses = async () =>
  (await listRecords((await loadCustomer(two.mine, email)).id, consent.id)).map(({ status }) => status)

const countEditionRows = async () => {
  const { seq } = (await db.first(sql<{ seq: number }>`select seq from users where email = ${email}
    and organization_id = ${two.mine.organization_id}`)) ?? { seq: 0 }
  return db.all(sql`select 1 from edition_customers where user_seq = ${seq} and edition_id = ${two.mine.edition_id}`)
}

describe('an undo by a manager of the edition', () => {
  it('keeps the organisation’s name, number and consent of a shared customer, and says so', async () => {
    await joinTheirs()
    const { id } = await importReturning()
    expect(await undoToEnd(id, two.manager)).toMatchObject({
      status: 'undone',
      undone_orders: 2,
      kept_orders: 0,
      shared_customer_orders: 1,
    })
    expect(await loadCustomer(two.mine, email)).toMatchObject(contact)
    expect(await listStatuses()).toEqual(['given'])
    expect(await countEditionRows()).toEqual([])
    expect(await countContents(two.mine)).toMatchObject({ orders: 0 })
    const rows = await get(`/v1/data-imports/${id}/rows`, two.manager)
    expect(rows.body.results).toMatchObject([
      { undo_outcome: 'undone', undo_reason: 'shared_customer' },
      { undo_outcome: 'undone', undo_reason: null },
    ])
    expect((await get(`/v1/data-imports/${id}`, two.manager)).body.shared_customer_orders).toBe(1)
    expect((await listUndone(id)).map(({ undo_data }) => undo_data)).toEqual([null, null])
    await expectWhole(two.mine.organization_id)
  })

  it('changes a customer whom only this edition knows', async () => {
    await importOrders(two.mine, [anOrder({ customer: { email } })])
    const { id } = await importReturning()
    expect(await undoToEnd(id, two.manager)).toMatchObject({ undone_orders: 2, shared_customer_orders: 0 })
    expect(await loadCustomer(two.mine, email)).toMatchObject(noContact)
    expect(await listStatuses()).toEqual([])
  })

  it('takes back an answer to a consent of the edition, also of a shared customer', async () => {
    await joinTheirs()
    await write(sql`update consents set edition_id = ${two.mine.edition_id} where id = ${consent.id}`)
    const { id } = await importReturning()
    await undoToEnd(id, two.manager)
    expect(await listStatuses()).toEqual([])
    expect(await loadCustomer(two.mine, email)).toMatchObject(contact)
  })

  it('keeps what belongs to the organisation when another edition imports the customer meanwhile', async () => {
    await importOrders(two.mine, [anOrder({ customer: { email } })])
    const { id } = await importReturning()
    const { epoch } = await beginUndo(id, two.manager)
    const { job } = createImporter()
    const runBatch = job.db.batch.bind(job.db)
    let hasJoined = false
    job.db.batch = (async (statements: Parameters<typeof runBatch>[0]) => {
      if (!hasJoined && statements.length > 3) {
        hasJoined = true
        expect((await joinTheirs()).status).toBe(201)
      }
      return runBatch(statements)
    }) as typeof job.db.batch
    await workOnImport(job, id, epoch)
    expect(hasJoined).toBe(true)
    expect(await loadCustomer(two.mine, email)).toMatchObject(contact)
    expect(await listStatuses()).toEqual(['given'])
    expect((await listUndone(id)).map(({ undo_reason }) => undo_reason)).toEqual(['shared_customer', null])
  })
})

describe('an undo by a manager of the organisation', () => {
  it('clears what the import filled in, also of a shared customer', async () => {
    await joinTheirs()
    const { id } = await importReturning()
    expect(await undoToEnd(id, two.organizationManager)).toMatchObject({ undone_orders: 2, shared_customer_orders: 0 })
    expect(await loadCustomer(two.mine, email)).toMatchObject(noContact)
    expect(await listStatuses()).toEqual([])
    expect((await listUndone(id)).map(({ undo_reason }) => undo_reason)).toEqual([null, null])
  })
})
