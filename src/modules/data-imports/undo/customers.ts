import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { requireChanges } from '../../../db/commit.ts'
import type { Statement } from '../../../db/database.ts'
import type { KeptReason, UndoReason } from '../../../domain/data-imports/import-undo.ts'
import { type ImportedRecord, loadImportedChains, takeBackAnswers } from '../../consents/index.ts'
import type { ImportRow } from '../background/steps.ts'
import { findMailedPeople, findProtectedPeople, guardPeople } from './answers.ts'
import type { UndoRights } from './people.ts'

/** A customer whom an import created or updated. */
interface WrittenCustomer {
  number: number
  user_id: string
  /** True for a customer who was erased since, of whom nothing is left to undo. */
  is_erased: number
}

/** Loads the next customers before `below`, last first. */
export const loadWrittenCustomers = (
  { db }: Pick<JobCtx, 'db'>,
  { id }: ImportRow,
  below: number | null,
  limit: number,
): Promise<WrittenCustomer[]> =>
  db.all(
    sql<WrittenCustomer>`select number, user_id, exists (select 1 from erasures where user_id = written.user_id) as is_erased
      from import_orders as written where import_id = ${id} and outcome in ('created', 'updated')
        and user_id is not null and undo_outcome is null and number < ${below ?? Number.MAX_SAFE_INTEGER}
      order by number desc limit ${sql.raw(String(limit))}`,
  )

interface CustomersUndo {
  statements: Statement[]
  undone: number
  kept: number
  shared: number
}

const outcomes = {
  erased: ['kept', 'customer_erased' satisfies KeptReason],
  shared: ['undone', 'shared_customer' satisfies UndoReason],
  undone: ['undone', null],
} as const

/**
 * Takes back the consents that these customers gave through the import. Withdrawals and refusals stay, and so do the
 * consents of people who got a campaign since.
 */
export async function undoCustomerAnswers(
  job: JobCtx,
  row: ImportRow,
  customers: readonly WrittenCustomer[],
  rights: UndoRights,
): Promise<CustomersUndo> {
  const userIds = [...new Set(customers.flatMap((one) => (one.is_erased ? [] : [one.user_id])))]
  const chains = await loadImportedChains(job.db, row.id, userIds)
  const mailedPeople = await findMailedPeople(job, row, userIds)
  const protectedPeople = await findProtectedPeople(job, rights, userIds)
  const isGiven = ({ import_id, status, user_id }: ImportedRecord) =>
    import_id === row.id && status === 'given' && !mailedPeople.has(user_id)
  const isKept = (record: ImportedRecord) => record.is_of_organization === 1 && protectedPeople.has(record.user_id)
  const records = chains.flat().filter(isGiven)
  const sharedPeople = new Set(records.filter(isKept).map(({ user_id }) => user_id))
  const changedPeople = records.filter((one) => one.is_of_organization === 1 && !isKept(one))
  const choose = ({ user_id, is_erased }: WrittenCustomer): keyof typeof outcomes =>
    is_erased ? 'erased' : sharedPeople.has(user_id) ? 'shared' : 'undone'
  const choices = customers.map((one) => ({ number: one.number, choice: choose(one) }))
  const count = (choice: keyof typeof outcomes) => choices.filter((one) => one.choice === choice).length
  const values = choices.map(({ number, choice }) => [row.id, number, ...outcomes[choice]])
  return {
    undone: customers.length - count('erased'),
    kept: count('erased'),
    shared: count('shared'),
    statements: [
      ...guardPeople(rights, new Set(changedPeople.map(({ user_id }) => user_id))),
      ...takeBackAnswers(chains, (record) => isGiven(record) && !isKept(record)),
      sql`update import_orders set undo_outcome = undone.value ->> 2, undo_reason = undone.value ->> 3
        from json_each(${JSON.stringify(values)}) as undone
        where import_id = undone.value ->> 0 and number = undone.value ->> 1 and undo_outcome is null`,
      requireChanges(values.length),
    ],
  }
}
