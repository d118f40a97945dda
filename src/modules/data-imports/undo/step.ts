import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { requireChanges } from '../../../db/commit.ts'
import type { Statement } from '../../../db/database.ts'
import type {
  CatalogueOrders,
  CatalogueStagePosition,
  PeopleStagePosition,
} from '../../../domain/data-imports/import-position.ts'
import type { KeptReason } from '../../../domain/data-imports/import-undo.ts'
import { importedChains, type ImportedRecord, takeBackAnswers } from '../../consents/index.ts'
import { announceAll } from '../../webhooks/index.ts'
import { commitStep, endPhase, type ImportRow, isStillThere, misplaced, type PhaseStep } from '../background/steps.ts'
import { announcementsOf } from './announcements.ts'
import { entriesOf, removedEntry } from './catalogue.ts'
import { loadWritten, type WrittenOrder } from './load-orders.ts'
import {
  catalogueWith,
  findCatalogue,
  findNoted,
  forgetCatalogue,
  forgetPeople,
  type NotedOrder,
} from './noted-orders.ts'
import { undoStatements } from './order-statements.ts'
import { findPeople, peopleStatements } from './people.ts'

/** Few, because deleting an entry of the catalogue makes the database check all tables that may refer to it. */
const entriesAStep = 10
/** Orders of one transaction, of each try: where others change them at the same time, one by one. */
const sizes = [100, 100, 1, 1]

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

/** What the later stages and lists read of an order. Its undo data stay where they are until its people are undone. */
function outcomeStatements({ id }: ImportRow, written: readonly WrittenOrder[]): Statement[] {
  const outcomes = written.map(({ number, reason }) => [id, number, reason === null ? 'undone' : 'kept', reason])
  return [
    sql`update import_orders set undo_outcome = done.value ->> 2, undo_reason = done.value ->> 3
      from json_each(${JSON.stringify(outcomes)}) as done
      where import_id = done.value ->> 0 and number = done.value ->> 1 and undo_outcome is null`,
    requireChanges(written.length),
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
    ...(emit_webhooks ? announceAll(job, await announcementsOf(job.db, undone, job.now())) : []),
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
  for (const size of sizes) {
    const written = await loadWritten(job.db, row, below, size)
    if (written.length === 0)
      return commitStep(job, row, { position: { stage: 'people', below: null, catalogue: null } })
    const next = await commitOrders(job, row, written)
    if (next || !(await isStillThere(job, row))) return next
  }
  return commitOrders(job, row, keptAs(await loadWritten(job.db, row, below, 1), 'still_referenced'))
}

interface PeopleStep {
  /** Of the orders before this step. */
  catalogue: CatalogueOrders | null
  noted: readonly NotedOrder[]
  statements: readonly Statement[]
}

const commitPeople = (job: JobCtx, row: ImportRow, { catalogue, noted, statements }: PeopleStep) =>
  commitStep(job, row, {
    position: { stage: 'people', below: noted.at(-1)?.number ?? 0, catalogue: catalogueWith(catalogue, noted) },
    statements: [...statements, ...forgetPeople(row, noted)],
  })

async function undoneOf(job: JobCtx, row: ImportRow, noted: readonly NotedOrder[]): Promise<Statement[]> {
  const people = noted.flatMap(({ before }) => before.people ?? [])
  const found = await findPeople(job.db, row, [...new Set(people.map(({ id }) => id))])
  return peopleStatements(row, found, people, job.now())
}

async function undoPeople(job: JobCtx, row: ImportRow, position: PeopleStagePosition): Promise<ImportRow | null> {
  const { below, catalogue } = position
  for (const size of sizes) {
    const noted = await findNoted(job.db, row, below, size)
    if (noted.length === 0) {
      const [from, last] = catalogue ?? [0, -1]
      return commitStep(job, row, { position: { stage: 'catalogue', below: last + 1, from, entry: 0 } })
    }
    const statements = await undoneOf(job, row, noted)
    const next = await commitPeople(job, row, { catalogue, noted, statements })
    if (next || !(await isStillThere(job, row))) return next
  }
  const noted = await findNoted(job.db, row, below, 1)
  return commitPeople(job, row, { catalogue, noted, statements: [] })
}

/** The catalogue of one order at a time, some entries a step. */
async function undoCatalogue(job: JobCtx, row: ImportRow, position: CatalogueStagePosition) {
  const { below, from, entry } = position
  const noted = await findCatalogue(job.db, row, below, from)
  if (!noted) return endPhase(job, row, { status: 'undone' })
  const entries = entriesOf(noted.catalogue)
  const some = entries.slice(entry, entry + entriesAStep)
  const isLast = entry + entriesAStep >= entries.length
  const next = isLast ? { below: noted.number, entry: 0 } : { below, entry: entry + entriesAStep }
  return commitStep(job, row, {
    position: { stage: 'catalogue', from, ...next },
    statements: [
      ...some.flatMap((one) => removedEntry(row, one)),
      ...(isLast ? [forgetCatalogue(row, noted.number)] : []),
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
      return undoPeople(job, row, position)
    case 'catalogue':
      return undoCatalogue(job, row, position)
    default:
      throw misplaced(row)
  }
}
