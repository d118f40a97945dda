import { sql } from 'drizzle-orm'
import { requireChanges, requireOneChange } from '../../../db/commit.ts'
import type { Database, Statement } from '../../../db/database.ts'
import { editionCustomers, users } from '../../../db/schema/users.ts'
import { inList } from '../../../db/visibility.ts'
import { update } from '../../../db/write.ts'
import { buildSearchColumns } from '../../../domain/accounts/users.ts'
import { buildEditionValues, type PersonBefore } from '../../order-import/index.ts'
import { isInRunningAudience, removeFromSegments } from '../../segments/index.ts'
import { isSameJson } from '../../../domain/text/json.ts'
import type { ImportRow } from '../background/steps.ts'

type User = Pick<
  typeof users.$inferSelect,
  'id' | 'seq' | 'email' | 'phone_number' | 'first_name' | 'last_name' | 'version'
>

interface PersonRow extends User {
  /** A row refers to the person, in this edition or elsewhere. */
  is_used: number
  is_in_edition: number
  is_elsewhere: number
  /** Orders of this import that were kept name the person. */
  has_kept: number
  /** Another customer without an address has the number. */
  is_phone_taken: number
  /** The edition's values of the customer, as JSON. */
  said: string | null
}

const hasOrder = sql`exists (select 1 from orders where user_id = u.id)
  or exists (select 1 from purchases where user_id = u.id)`

const isUsed = (editionId: string) => sql`(${hasOrder}
  or exists (select 1 from refund_requests where user_id = u.id)
  or exists (select 1 from transactional_emails where user_id = u.id)
  or exists (select 1 from consent_records where user_id = u.id)
  or exists (select 1 from campaign_receipts where user_id = u.id)
  or exists (select 1 from erasures where user_id = u.id)
  or exists (select 1 from edition_customers where user_seq = u.seq and edition_id <> ${editionId})
  or exists (select 1 from audit_log where organization_id = u.organization_id and resource_id = u.id)
  or u.last_seen_at is not null or ${isInRunningAudience(sql`u`)})`

const isKept = (importId: string) =>
  sql`in (select order_id from import_orders where import_orders.order_id = o.id and import_id = ${importId}
    and undo_outcome = 'kept')`

export const findPeople = (db: Database, row: ImportRow, ids: readonly string[]): Promise<PersonRow[]> =>
  db.all(sql<PersonRow>`select u.id, u.seq, u.email, u.phone_number, u.first_name, u.last_name, u.version,
      ${isUsed(row.edition_id)} as is_used,
      (exists (select 1 from orders where user_id = u.id and edition_id = ${row.edition_id})
        or exists (select 1 from purchases where user_id = u.id and edition_id = ${row.edition_id})) as is_in_edition,
      exists (select 1 from edition_customers where user_seq = u.seq and edition_id <> ${row.edition_id}) as is_elsewhere,
      (exists (select 1 from orders o where o.user_id = u.id and o.id ${isKept(row.id)})
        or exists (select 1 from purchases p join orders o on o.id = p.order_id
          where p.user_id = u.id and o.id ${isKept(row.id)})) as has_kept,
      exists (select 1 from users other where other.organization_id = u.organization_id and other.email is null
        and other.phone_number = u.phone_number and other.id <> u.id) as is_phone_taken,
      iif(ue.seq is null, null, ${buildEditionValues(sql`ue`)}) as said
    from json_each(${JSON.stringify(ids)}) as person cross join users u on u.id = person.value
    left join edition_customers ue on ue.edition_id = ${row.edition_id} and ue.user_seq = u.seq
    where u.organization_id = ${row.organization_id}`)

function buildDeletions({ organization_id, edition_id }: ImportRow, gone: readonly PersonRow[]): Statement[] {
  if (gone.length === 0) return []
  const [ids, seqs] = [gone.map(({ id }) => id), gone.map(({ seq }) => seq)]
  return [
    sql`delete from edition_customers where edition_id = ${edition_id} and ${inList(sql`user_seq`, seqs)}`,
    ...removeFromSegments(organization_id, seqs),
    sql`delete from users where ${inList(sql`id`, ids)}`,
    requireChanges(ids.length),
  ]
}

/** Clears fields that still have the value of the import. */
function buildEmptying(person: PersonRow, filled: PersonBefore['filled'], now: number): Statement[] {
  const { id, email, phone_number, first_name, last_name } = person
  const contact = { email, phone_number, first_name, last_name }
  const isStill = (name: keyof typeof contact) => name in filled && filled[name] === contact[name]
  const isAlone = phone_number === null || isStill('phone_number')
  const after = {
    email: isStill('email') && !isAlone && !person.is_phone_taken ? null : email,
    phone_number: isStill('phone_number') && email !== null ? null : phone_number,
    first_name: isStill('first_name') ? '' : first_name,
    last_name: isStill('last_name') ? '' : last_name,
  }
  if (JSON.stringify(after) === JSON.stringify(contact)) return []
  const changes = { ...after, ...buildSearchColumns(after), modified_at: now, version: person.version + 1 }
  return [update(users, changes, sql`id = ${id} and version = ${person.version}`), requireOneChange()]
}

function buildRestoration(row: ImportRow, person: PersonRow, { is_new, said }: PersonBefore): Statement[] {
  const place = sql`edition_id = ${row.edition_id} and user_seq = ${person.seq}`
  if (is_new || said?.before === null) {
    const isStaying = person.is_in_edition === 1 || (is_new && person.is_elsewhere === 0)
    return isStaying ? [] : [sql`delete from edition_customers where ${place}`]
  }
  if (!said?.before || person.said === null || !isSameJson(person.said, JSON.stringify(said.after))) return []
  return [update(editionCustomers, { ...said.before, ...buildSearchColumns(said.before) }, place)]
}

/** Later orders come first, so the values before the import are in the last entry and those after it in the first. */
function mergePeople(befores: readonly PersonBefore[]): PersonBefore[] {
  const byId = new Map<string, PersonBefore>()
  for (const one of befores) {
    const later = byId.get(one.id)
    const editionValues =
      later?.said && one.said ? { before: one.said.before, after: later.said.after } : (one.said ?? later?.said)
    const filled = { ...later?.filled, ...one.filled }
    byId.set(one.id, { id: one.id, is_new: one.is_new, filled, said: editionValues ?? null })
  }
  return [...byId.values()]
}

export function buildPeopleStatements(
  row: ImportRow,
  people: readonly PersonRow[],
  befores: readonly PersonBefore[],
  now: number,
): Statement[] {
  const byId = new Map(mergePeople(befores).map((one) => [one.id, one]))
  const isGone = (person: PersonRow) => byId.get(person.id)?.is_new === true && !person.is_used
  const remainingPeople = people.filter((person) => !isGone(person) && !person.has_kept)
  return [
    ...buildDeletions(row, people.filter(isGone)),
    ...remainingPeople.flatMap((person) => {
      const before = byId.get(person.id)
      return before ? [...buildRestoration(row, person, before), ...buildEmptying(person, before.filled, now)] : []
    }),
  ]
}
