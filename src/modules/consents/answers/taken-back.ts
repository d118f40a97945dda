import { sql } from 'drizzle-orm'
import { requireChanges, abortUnless } from '../../../db/commit.ts'
import type { Database, Statement } from '../../../db/database.ts'
import { settledStatuses } from '../../../domain/consents/consents.ts'
import type { RecordRow } from './records.ts'

type ImportedRecord = Pick<
  RecordRow,
  'user_id' | 'consent_id' | 'number' | 'status' | 'method' | 'order_id' | 'import_id' | 'occurred_at' | 'is_latest'
>

/** All answers of these people to the consents that an import answered for them, each chain in its order. */
export async function importedChains(
  db: Database,
  importId: string,
  userIds: readonly string[],
): Promise<ImportedRecord[][]> {
  const rows = await db.all(
    sql<ImportedRecord>`select r.user_id, r.consent_id, r.number, r.status, r.method, r.order_id, r.import_id,
        r.occurred_at, r.is_latest
      from json_each(${JSON.stringify(userIds)}) as person cross join consent_records r on r.user_id = person.value
      where exists (select 1 from consent_records own where own.user_id = r.user_id and own.consent_id = r.consent_id
        and own.import_id = ${importId})
      order by r.user_id, r.consent_id, r.number`,
  )
  return [...Map.groupBy(rows, ({ user_id, consent_id }) => `${user_id} ${consent_id}`).values()]
}

/** The end of a chain that is deleted when these answers are taken back, with records of consents that expired. */
function tail(chain: readonly ImportedRecord[], isTakenBack: (record: ImportedRecord) => boolean): ImportedRecord[] {
  const kept = chain.findLastIndex((record) => !isTakenBack(record) && record.method !== 'expiry')
  const first = chain.findIndex((record, at) => at > kept && isTakenBack(record))
  return first < 0 ? [] : chain.slice(first)
}

interface Removed {
  gone: ImportedRecord[]
  last: ImportedRecord
  before: ImportedRecord | undefined
}

function removedOf(
  chains: readonly (readonly ImportedRecord[])[],
  isTakenBack: (record: ImportedRecord) => boolean,
): Removed[] {
  return chains.flatMap((chain) => {
    const gone = tail(chain, isTakenBack)
    const last = gone.at(-1)
    return last ? [{ gone, last, before: chain[chain.length - gone.length - 1] }] : []
  })
}

const keyOf = ({ user_id, consent_id, number }: ImportedRecord) => [user_id, consent_id, number]
const given = sql`(consent_records.user_id, consent_records.consent_id, consent_records.number)`
const keysIn = (json: string) => sql`(select value ->> 0, value ->> 1, value ->> 2 from json_each(${json}))`

/** The changes of a definition's counts. */
const statsOf = (removed: readonly Removed[]) =>
  [...Map.groupBy(removed, ({ last }) => last.consent_id)].map(([consentId, ofIt]) => [
    consentId,
    -ofIt.reduce((count, { gone }) => count + gone.length, 0),
    ...settledStatuses.map((status) =>
      ofIt.reduce(
        (sum, { last, before }) => sum - Number(last.status === status) + Number(before?.status === status),
        0,
      ),
    ),
  ])

/**
 * Deletes the answers that `isTakenBack` selects, unless later answers follow them: the chains stay whole, and each
 * ends earlier. Fails as a lost race when an answer is recorded at the same time.
 */
export function takeBackAnswers(
  chains: readonly (readonly ImportedRecord[])[],
  isTakenBack: (record: ImportedRecord) => boolean,
): Statement[] {
  const removed = removedOf(chains, isTakenBack)
  if (removed.length === 0) return []
  const lasts = JSON.stringify(removed.map(({ last }) => keyOf(last)))
  const gone = JSON.stringify(removed.flatMap((one) => one.gone.map(keyOf)))
  const befores = JSON.stringify(removed.flatMap(({ before }) => (before ? [keyOf(before)] : [])))
  const stats = JSON.stringify(statsOf(removed))
  return [
    abortUnless(sql`(select count(*) from consent_records where ${given} in ${keysIn(lasts)} and is_latest = 1)
      = ${removed.length}`),
    sql`delete from consent_records where ${given} in ${keysIn(gone)}`,
    requireChanges(removed.reduce((count, one) => count + one.gone.length, 0)),
    sql`update consent_records set is_latest = 1 where ${given} in ${keysIn(befores)}`,
    sql`update consent_stats set records = records + (change.value ->> 1), given = given + (change.value ->> 2),
        skipped = skipped + (change.value ->> 3), withdrawn = withdrawn + (change.value ->> 4),
        expired = expired + (change.value ->> 5)
      from json_each(${stats}) as change where consent_id = change.value ->> 0`,
  ]
}

/** True when an answer that the import brought with an order is followed by one from elsewhere. */
export const answeredLater = (orderId: ReturnType<typeof sql>, userId: ReturnType<typeof sql>, importId: string) =>
  sql`exists (select 1 from consent_records own join consent_records later on later.user_id = own.user_id
    and later.consent_id = own.consent_id and later.number > own.number
    where own.user_id = ${userId} and own.order_id = ${orderId} and own.import_id = ${importId}
      and later.method <> 'expiry' and later.import_id is not ${importId})`

export type { ImportedRecord }
