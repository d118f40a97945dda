import { sql } from 'drizzle-orm'
import { requireChanges, abortUnless } from '../../../db/commit.ts'
import type { Database, Statement } from '../../../db/database.ts'
import { effectiveStatuses } from '../../../domain/consents/consents.ts'
import type { RecordRow } from './records.ts'

type RecordColumn =
  | 'user_id'
  | 'consent_id'
  | 'number'
  | 'status'
  | 'method'
  | 'order_id'
  | 'import_id'
  | 'occurred_at'
  | 'is_latest'

interface ImportedRecord extends Pick<RecordRow, RecordColumn> {
  /** 1 for a consent of the whole organisation. */
  is_of_organization: number
}

/**
 * Loads all answers of these people to consents that an import answered for them: one chain for each person and
 * consent.
 */
export async function loadImportedChains(
  db: Database,
  importId: string,
  userIds: readonly string[],
): Promise<ImportedRecord[][]> {
  const rows = await db.all(
    sql<ImportedRecord>`select r.user_id, r.consent_id, r.number, r.status, r.method, r.order_id, r.import_id,
        r.occurred_at, r.is_latest,
        (select edition_id is null from consents where consents.id = r.consent_id) as is_of_organization
      from json_each(${JSON.stringify(userIds)}) as person cross join consent_records r on r.user_id = person.value
      where exists (select 1 from consent_records imported where imported.user_id = r.user_id
        and imported.consent_id = r.consent_id and imported.import_id = ${importId})
      order by r.user_id, r.consent_id, r.number`,
  )
  return [...Map.groupBy(rows, ({ user_id, consent_id }) => `${user_id} ${consent_id}`).values()]
}

/** Finds the records at the end of a chain that are answers to take back or expiries of such answers. */
function findTail(
  chain: readonly ImportedRecord[],
  isTakenBack: (record: ImportedRecord) => boolean,
): ImportedRecord[] {
  const lastRemaining = chain.findLastIndex((record) => !isTakenBack(record) && record.method !== 'expiry')
  const first = chain.findIndex((record, at) => at > lastRemaining && isTakenBack(record))
  return first < 0 ? [] : chain.slice(first)
}

interface ChainRemoval {
  removedRecords: ImportedRecord[]
  last: ImportedRecord
  before: ImportedRecord | undefined
}

function findRemovals(
  chains: readonly (readonly ImportedRecord[])[],
  isTakenBack: (record: ImportedRecord) => boolean,
): ChainRemoval[] {
  return chains.flatMap((chain) => {
    const removedRecords = findTail(chain, isTakenBack)
    const last = removedRecords.at(-1)
    return last ? [{ removedRecords, last, before: chain[chain.length - removedRecords.length - 1] }] : []
  })
}

const toKey = ({ user_id, consent_id, number }: ImportedRecord) => [user_id, consent_id, number]
const recordKey = sql`(consent_records.user_id, consent_records.consent_id, consent_records.number)`
const selectKeys = (json: string) => sql`(select value ->> 0, value ->> 1, value ->> 2 from json_each(${json}))`

/** Computes how the counts of each definition change. */
const computeStatChanges = (removals: readonly ChainRemoval[]) =>
  [...Map.groupBy(removals, ({ last }) => last.consent_id)].map(([consentId, group]) => [
    consentId,
    -group.reduce((count, { removedRecords }) => count + removedRecords.length, 0),
    ...effectiveStatuses.map((status) =>
      group.reduce(
        (sum, { last, before }) => sum - Number(last.status === status) + Number(before?.status === status),
        0,
      ),
    ),
  ])

/**
 * Builds the statements that delete the answers which `isTakenBack` selects, unless later answers follow them: the
 * chains stay intact and end earlier. The commit fails as a lost race when an answer is recorded at the same time.
 */
export function takeBackAnswers(
  chains: readonly (readonly ImportedRecord[])[],
  isTakenBack: (record: ImportedRecord) => boolean,
): Statement[] {
  const removals = findRemovals(chains, isTakenBack)
  if (removals.length === 0) return []
  const latestKeys = JSON.stringify(removals.map(({ last }) => toKey(last)))
  const removedKeys = JSON.stringify(removals.flatMap(({ removedRecords }) => removedRecords.map(toKey)))
  const newLatestKeys = JSON.stringify(removals.flatMap(({ before }) => (before ? [toKey(before)] : [])))
  const statChanges = JSON.stringify(computeStatChanges(removals))
  return [
    abortUnless(sql`(select count(*) from consent_records where ${recordKey} in ${selectKeys(latestKeys)} and is_latest = 1)
      = ${removals.length}`),
    sql`delete from consent_records where ${recordKey} in ${selectKeys(removedKeys)}`,
    requireChanges(removals.reduce((count, { removedRecords }) => count + removedRecords.length, 0)),
    sql`update consent_records set is_latest = 1 where ${recordKey} in ${selectKeys(newLatestKeys)}`,
    sql`update consent_stats set records = records + (change.value ->> 1), given = given + (change.value ->> 2),
        skipped = skipped + (change.value ->> 3), withdrawn = withdrawn + (change.value ->> 4),
        expired = expired + (change.value ->> 5)
      from json_each(${statChanges}) as change where consent_id = change.value ->> 0`,
  ]
}

/**
 * Holds when somebody has answered a consent again since an import answered it with this order. A merge of customers adds
 * earlier answers behind it.
 */
export const isAnsweredLater = (orderId: ReturnType<typeof sql>, userId: ReturnType<typeof sql>, importId: string) =>
  sql`exists (select 1 from consent_records imported join consent_records later on later.user_id = imported.user_id
    and later.consent_id = imported.consent_id and later.number > imported.number
    and later.occurred_at >= imported.occurred_at
    where imported.user_id = ${userId} and imported.order_id = ${orderId} and imported.import_id = ${importId}
      and later.method <> 'expiry' and later.import_id is not ${importId})`

export type { ImportedRecord }
