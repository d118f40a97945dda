import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { abortUnless } from '../../../db/commit.ts'
import { inList } from '../../../db/conditions.ts'
import type { Statement } from '../../../db/database.ts'
import { loadImportedChains, type ImportedRecord, takeBackAnswers } from '../../consents/index.ts'
import type { ImportRow } from '../background/steps.ts'
import { isProtected, type UndoRights } from './people.ts'
import type { WrittenOrder } from './written-orders.ts'

interface AnswerUndo {
  statements: Statement[]
  /** Orders with an answer that stays, because it belongs to the organisation and its customer to other editions too. */
  protectedOrderIds: ReadonlySet<string>
}

const listValues = (values: Iterable<string>) =>
  sql`(select value from json_each(${JSON.stringify([...new Set(values)])}))`

/** People who got a campaign since the import keep their answers as its proof. */
export async function findMailedPeople(
  { db, now }: JobCtx,
  row: ImportRow,
  userIds: readonly string[],
): Promise<Set<string>> {
  const people = await db.all(
    sql<{ user_id: string }>`select distinct user_id from campaign_receipts
      where user_id in ${listValues(userIds)} and state = 'sent' and coalesce(received_at, ${now()}) >= ${row.started_at ?? row.created_at}`,
  )
  return new Set(people.map(({ user_id }) => user_id))
}

export async function findProtectedPeople({ db }: JobCtx, rights: UndoRights, userIds: readonly string[]) {
  if (rights.changeable === null) return new Set<string>()
  const people = await db.all(
    sql<{
      id: string
    }>`select u.id from users u where ${inList(sql`u.id`, userIds)} and ${isProtected(sql`u`, rights)}`,
  )
  return new Set(people.map(({ id }) => id))
}

/** Aborts the transaction when a customer has joined an edition that the undo may not change. */
export function guardPeople(rights: UndoRights, userIds: ReadonlySet<string>): Statement[] {
  if (rights.changeable === null || userIds.size === 0) return []
  return [
    abortUnless(sql`not exists (select 1 from users u where u.id in ${listValues(userIds)}
      and ${isProtected(sql`u`, rights)})`),
  ]
}

/** Takes back the answers of undone orders, except those that only a role of the organisation may change. */
export async function undoAnswers(
  job: JobCtx,
  row: ImportRow,
  undoneOrders: readonly WrittenOrder[],
  rights: UndoRights,
): Promise<AnswerUndo> {
  const userIds = [...new Set(undoneOrders.map(({ order }) => order.user_id))]
  const chains = await loadImportedChains(job.db, row.id, userIds)
  if (chains.length === 0) return { statements: [], protectedOrderIds: new Set() }
  const mailedPeople = await findMailedPeople(job, row, userIds)
  const protectedPeople = await findProtectedPeople(job, rights, userIds)
  const orderIds = chains.flatMap((chain) => chain.flatMap(({ order_id }) => order_id ?? []))
  const earlierUndone = await job.db.all(
    sql<{ order_id: string }>`select order_id from import_orders
      where order_id in ${listValues(orderIds)} and import_id = ${row.id} and undo_outcome = 'undone'`,
  )
  const nowUndone = new Set(undoneOrders.map(({ order }) => order.id))
  const undoneOrderIds = new Set([...earlierUndone.map(({ order_id }) => order_id), ...nowUndone])
  const isUndone = ({ user_id, import_id, order_id }: ImportedRecord) =>
    import_id === row.id && order_id !== null && undoneOrderIds.has(order_id) && !mailedPeople.has(user_id)
  const isKept = ({ user_id, is_of_organization }: ImportedRecord) =>
    is_of_organization === 1 && protectedPeople.has(user_id)
  const undoneRecords = chains.flat().filter(isUndone)
  const changedPeople = new Set(
    undoneRecords.filter((record) => record.is_of_organization === 1 && !isKept(record)).map(({ user_id }) => user_id),
  )
  return {
    statements: [
      ...guardPeople(rights, changedPeople),
      ...takeBackAnswers(chains, (record) => isUndone(record) && !isKept(record)),
    ],
    protectedOrderIds: new Set(
      undoneRecords.filter(isKept).flatMap(({ order_id }) => (order_id && nowUndone.has(order_id) ? [order_id] : [])),
    ),
  }
}
