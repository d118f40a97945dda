import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { changedExactly } from '../../../db/commit.ts'
import type { Statement } from '../../../db/database.ts'
import { ordersPerChunk } from '../../../domain/data-imports/data-imports.ts'
import type { CatalogueStagePosition } from '../../../domain/data-imports/import-position.ts'
import type { KeptReason } from '../../../domain/data-imports/import-undo.ts'
import { isRecord, readJson } from '../../../domain/text/json.ts'
import { importedChains, type ImportedRecord, takeBackAnswers } from '../../consents/index.ts'
import type { OrderBefore } from '../../order-import/index.ts'
import { announceAll } from '../../webhooks/index.ts'
import { keptOf } from '../background/created-orders.ts'
import { keysOfRows, ordersByNumber } from '../background/staged-orders.ts'
import { commitStep, endPhase, type ImportRow, isStillThere, misplaced, type PhaseStep } from '../background/steps.ts'
import { announcementsOf } from './announcements.ts'
import { entriesOf, removedEntry } from './catalogue.ts'
import { loadWritten, type WrittenOrder } from './load-orders.ts'
import { undoStatements } from './order-statements.ts'
import { findPeople, peopleStatements } from './people.ts'

/** Few, because deleting an entry of the catalogue makes the database check all tables that may refer to it. */
const entriesAStep = 10

/** Answers that the import brought with orders that are undone, in this step or before. */
async function answerStatements(job: JobCtx, row: ImportRow, undone: readonly WrittenOrder[]): Promise<Statement[]> {
  const userIds = [...new Set(undone.map(({ order }) => order.user_id))]
  const chains = await importedChains(job.db, row.id, userIds)
  if (chains.length === 0) return []
  const mailed = await job.db.all(
    sql<{ user_id: string }>`select distinct user_id from campaign_receipts
      where user_id in (select value from json_each(${JSON.stringify(userIds)}))
        and coalesce(received_at, ${job.now()}) >= ${row.started_at ?? row.created_at}`,
  )
  const orderIds = chains.flatMap((chain) => chain.flatMap(({ order_id }) => order_id ?? []))
  const before = await job.db.all(
    sql<{ order_id: string }>`select order_id from import_orders
      where order_id in (select value from json_each(${JSON.stringify(orderIds)}))
        and import_id = ${row.id} and undo_outcome = 'undone'`,
  )
  const gone = new Set([...before.map(({ order_id }) => order_id), ...undone.map(({ order }) => order.id)])
  const kept = new Set(mailed.map(({ user_id }) => user_id))
  const isTakenBack = ({ user_id, import_id, order_id }: ImportedRecord) =>
    import_id === row.id && order_id !== null && gone.has(order_id) && !kept.has(user_id)
  return takeBackAnswers(chains, isTakenBack)
}

/** Moves the undo data of created orders to their own rows, where the later stages and lists read it. */
function outcomeStatements({ id }: ImportRow, written: readonly WrittenOrder[]): Statement[] {
  const outcomes = written.map(({ group_key, reason }) => [id, group_key, reason === null ? 'undone' : 'kept', reason])
  const its = sql`import_orders`
  return [
    sql`update import_orders set undo_outcome = done.value ->> 2, undo_reason = done.value ->> 3,
        outcome = coalesce(outcome, 'created'), order_id = coalesce(order_id, ${keptOf(its, 'order_id')}),
        order_version = coalesce(order_version, 1), before = coalesce(before, ${keptOf(its, 'before')})
      from json_each(${JSON.stringify(outcomes)}) as done
      where import_id = done.value ->> 0 and group_key = done.value ->> 1 and undo_outcome is null`,
    changedExactly(written.length),
    sql`delete from import_created_orders where import_id = ${id} and first_number >= ${written.at(-1)?.number ?? 0}`,
  ]
}

/** Commits with the events of the purchases, where the import announced them too. */
async function commitOrders(job: JobCtx, row: ImportRow, written: readonly WrittenOrder[]): Promise<ImportRow | null> {
  const undone = written.filter(({ reason }) => reason === null)
  const { emit_webhooks = false } = row.options
  const statements = [
    ...(await answerStatements(job, row, undone)),
    ...undoStatements(row.organization_id, undone, job.now()),
    ...outcomeStatements(row, written),
    ...(emit_webhooks ? announceAll(job, announcementsOf(undone, job.now())) : []),
  ]
  return commitStep(job, row, {
    position: { stage: 'orders', below: written.at(-1)?.number ?? 0 },
    changes: {
      undone_orders: row.undone_orders + undone.length,
      kept_orders: row.kept_orders + written.length - undone.length,
    },
    statements,
  })
}

const keptAs = (written: readonly WrittenOrder[], reason: KeptReason): WrittenOrder[] =>
  written.map((one) => ({ ...one, reason: one.reason ?? reason }))

/** Orders that change at the same time are read again; an order that cannot be deleted is kept. */
async function undoOrders(job: JobCtx, row: ImportRow, below: number | null): Promise<ImportRow | null> {
  for (const size of [ordersPerChunk, ordersPerChunk, 1, 1]) {
    const written = await loadWritten(job.db, row, below, size)
    if (written.length === 0) return commitStep(job, row, { position: { stage: 'people', below: null } })
    const next = await commitOrders(job, row, written)
    if (next || !(await isStillThere(job, row))) return next
  }
  return commitOrders(job, row, keptAs(await loadWritten(job.db, row, below, 1), 'still_referenced'))
}

interface Noted {
  number: number
  /** Has no people when one of them was erased. */
  before: Pick<OrderBefore, 'catalogue'> & Partial<OrderBefore>
}

const isNoted = (value: unknown): value is Noted['before'] => isRecord(value) && isRecord(value['catalogue'])

async function findNoted(job: JobCtx, row: ImportRow, below: number | null, limit: number): Promise<Noted[]> {
  const rows = await job.db.all(
    sql<{ number: number; before: string }>`select its.number, its.before from ${ordersByNumber(row.id)}
      where its.before is not null and head.row_number < ${below ?? Number.MAX_SAFE_INTEGER}
      order by head.row_number desc limit ${sql.raw(String(limit))}`,
  )
  return rows.map(({ number, before }) => ({ number, before: readJson(before, isNoted) }))
}

/** Deletes the undo data of people; that of the catalogue is still needed for the next stage. */
const forgetPeople = ({ id }: ImportRow, from: number, to: number): Statement =>
  sql`update import_orders set before = iif(json_array_length(before, '$.catalogue.products')
        + json_array_length(before, '$.catalogue.variants') + json_array_length(before, '$.catalogue.locations')
        + json_array_length(before, '$.catalogue.options') > 0,
      json_object('catalogue', json(before -> '$.catalogue')), null)
    where import_id = ${id} and group_key in ${keysOfRows(id, sql`row_number between ${from} and ${to}`)}
      and number between ${from} and ${to} and before is not null`

async function commitPeople(job: JobCtx, row: ImportRow, noted: readonly Noted[]): Promise<ImportRow | null> {
  const [first, last] = [noted[0]?.number ?? 0, noted.at(-1)?.number ?? 0]
  const people = noted.flatMap(({ before }) => before.people ?? [])
  const found = await findPeople(job.db, row, [...new Set(people.map(({ id }) => id))])
  const statements = [...peopleStatements(row, found, people, job.now()), forgetPeople(row, last, first)]
  return commitStep(job, row, { position: { stage: 'people', below: last }, statements })
}

async function undoPeople(job: JobCtx, row: ImportRow, below: number | null): Promise<ImportRow | null> {
  for (const size of [ordersPerChunk, ordersPerChunk, 1, 1]) {
    const noted = await findNoted(job, row, below, size)
    if (noted.length === 0) return commitStep(job, row, { position: { stage: 'catalogue', below: null, entry: 0 } })
    const next = await commitPeople(job, row, noted)
    if (next || !(await isStillThere(job, row))) return next
  }
  const [one] = await findNoted(job, row, below, 1)
  const number = one?.number ?? 0
  return commitStep(job, row, {
    position: { stage: 'people', below: number },
    statements: [forgetPeople(row, number, number)],
  })
}

/** The catalogue of one order at a time, some entries a step. */
async function undoCatalogue(job: JobCtx, row: ImportRow, position: CatalogueStagePosition) {
  const { below, entry } = position
  const [noted] = await findNoted(job, row, below, 1)
  if (!noted) return endPhase(job, row, { status: 'undone' })
  const entries = entriesOf(noted.before.catalogue)
  const some = entries.slice(entry, entry + entriesAStep)
  const isLast = entry + entriesAStep >= entries.length
  return commitStep(job, row, {
    position: { stage: 'catalogue', below: isLast ? noted.number : below, entry: isLast ? 0 : entry + entriesAStep },
    statements: [
      ...some.flatMap((one) => removedEntry(row, one)),
      ...(isLast
        ? [
            sql`update import_orders set before = null where import_id = ${row.id}
              and group_key in ${keysOfRows(row.id, sql`row_number = ${noted.number}`)}`,
          ]
        : []),
    ],
  })
}

/** Undoes an import: its orders, the last first, then customers, then the entries of the catalogue. */
export const undoStep: PhaseStep = (job, row) => {
  const { position } = row
  switch (position.stage) {
    case undefined:
      return undoOrders(job, row, null)
    case 'orders':
      return undoOrders(job, row, position.below)
    case 'people':
      return undoPeople(job, row, position.below)
    case 'catalogue':
      return undoCatalogue(job, row, position)
    default:
      throw misplaced(row)
  }
}
