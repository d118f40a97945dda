import { type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import type { Statement } from '../../../db/database.ts'
import { decodeAs } from '../../../db/select.ts'
import { normalizePhone } from '../../../domain/accounts/users.ts'
import { isNumbers, isRecord, readJson } from '../../../domain/text/json.ts'
import { rowsOfKeys } from '../background/staged-orders.ts'
import { importFields, type ImportRow } from '../background/steps.ts'
import { forgetContent, forgetCopy, storedFileOf } from './files.ts'

/** The erased person, with all their addresses. */
export interface ErasedPerson {
  organization_id: string
  user_id: string
  emails: ReadonlySet<string>
  phones: ReadonlySet<string>
}

/** The position of the search in the rows of imports: an import, and a row of it. */
interface ErasurePosition {
  created_at: number
  id: string
  row: number
}

const rowsAStep = 5000

interface SearchedImport extends ImportRow {
  country_code: string
}

interface SearchedRow {
  row_number: number
  group_key: string | null
  email: string | null
  phone: string | null
  holder: string | null
}

const cell = (target: string) => sql`json_extract(data, ${`$.values."${target}"`})`

const isPosition = (value: unknown): value is ErasurePosition =>
  isRecord(value) && typeof value['id'] === 'string' && isNumbers([value['created_at'], value['row']])

const readPlace = (after: string): ErasurePosition =>
  after === '' ? { created_at: 0, id: '', row: 0 } : readJson(after, isPosition)

/** The import that the search is at, or the next one. */
const findImport = (job: JobCtx, { organization_id }: ErasedPerson, { created_at, id }: ErasurePosition) =>
  job.db.first(
    decodeAs(
      importFields,
      sql<SearchedImport>`select data_imports.*, editions.default_country_code as country_code
      from data_imports join editions on editions.id = data_imports.edition_id
      where data_imports.organization_id = ${organization_id}
        and (data_imports.created_at, data_imports.id) >= (${created_at}, ${id})
        and file_id is not null and rows_deleted_at is null
      order by data_imports.created_at, data_imports.id limit 1`,
    ),
  )

/** Whether a whole cell of a row is one of the person's addresses. */
function names({ email, phone, holder }: SearchedRow, person: ErasedPerson, country: string): boolean {
  const isTheirs = (address: string | null) => address !== null && person.emails.has(address.toLowerCase())
  if (isTheirs(email) || isTheirs(holder)) return true
  if (phone === null || person.phones.size === 0) return false
  const number = normalizePhone(phone, country)
  return number !== null && person.phones.has(number)
}

interface ErasableRows {
  /** Rows without an order. */
  rows: readonly number[]
  keys: readonly string[]
}

/** Orders of the person, and orders with a ticket that the person holds. */
const ordersOf = (userId: string) => sql`(select id from orders where user_id = ${userId}
  union select order_id from purchases where user_id = ${userId})`

const keysOfOrders = (job: JobCtx, importId: string, { user_id }: ErasedPerson) =>
  job.db.all(
    sql<{ group_key: string }>`select group_key from import_orders indexed by import_orders_of_order
      where import_id = ${importId} and order_id in ${ordersOf(user_id)} and group_key not like 'erased %'`,
  )

/** The person's data that imports store for an undo. An undo does not restore orders of an erased person. */
export const forgetForUndo = (userId: string): Statement =>
  sql`update import_orders set before = json_remove(before, '$.people', '$.updated')
    where before is not null and order_id in ${ordersOf(userId)}`

const reason = JSON.stringify([
  {
    column: null,
    target_field: null,
    code: 'person_erased',
    message: 'A person in this row was erased, and the row with them.',
    value: null,
  },
])

const blank = (outcome: SQL) => sql`data = '{"values":{}}', warnings = iif(warnings = '[]', '[]', ${reason}),
  errors = iif(errors = '[]' and ${outcome} <> 'error', '[]', ${reason})`

/** All rows of an order are blanked with the person. An order that was not imported yet cannot be imported any more. */
function blanked({ id, phase }: ImportRow, { rows, keys }: ErasableRows): Statement[] {
  const numbers = sql`(select value from json_each(${JSON.stringify(rows)}))`
  const known = sql`(select value from json_each(${JSON.stringify(keys)}))`
  const orderOf = (column: SQL) => sql`(select ${column} from import_orders
    where import_orders.import_id = ${id} and import_orders.group_key = import_rows.group_key)`
  return [
    sql`update import_rows set ${blank(sql`outcome`)} where import_id = ${id} and row_number in ${numbers}`,
    // The key of an order may be an address.
    sql`update import_rows set ${blank(sql`coalesce(outcome, ${orderOf(sql`outcome`)})`)},
          group_key = 'erased ' || ${orderOf(sql`number`)}
        where import_id = ${id} and row_number in ${rowsOfKeys(id, known)}`,
    sql`update import_orders set group_key = 'erased ' || number,
        errors = iif(errors = '[]', '[]', ${reason}), warnings = iif(warnings = '[]', '[]', ${reason})
      where import_id = ${id} and group_key in ${known}`,
    // A consumer may have read these rows already: the new epoch stops it, and the sweep enqueues the work again.
    ...(phase === 'import'
      ? [sql`update data_imports set epoch = epoch + 1 where id = ${id} and phase = 'import'`]
      : []),
  ]
}

/** Files and copies of the import, and of all others that read the same bytes. */
async function forgetFiles(job: JobCtx, row: ImportRow): Promise<Statement[]> {
  if (row.files_deleted_at !== null) return []
  const stored = await storedFileOf(job, row.file_id)
  const others = stored
    ? await job.db.all(
        sql<{ id: string }>`select data_imports.id from files join data_imports on data_imports.file_id = files.id
          where files.organization_id = ${stored.organization_id} and files.storage_key = ${stored.storage_key}
            and files_deleted_at is null and data_imports.id <> ${row.id}`,
      )
    : []
  const copies = await Promise.all([row, ...others].map(({ id }) => forgetCopy(job, id)))
  return [...copies.flat(), ...(stored ? forgetContent(job, stored) : [])]
}

/**
 * Blanks the person in the next rows of the organisation's imports, and deletes the files of these rows. Answers
 * how far it is, null when there are no more; the same place while an import is still being read.
 */
export async function eraseInImports(job: JobCtx, person: ErasedPerson, after: string): Promise<string | null> {
  const place = readPlace(after)
  const row = await findImport(job, person, place)
  if (!row) return null
  const { id, created_at } = row
  const from = id === place.id ? place.row : 0
  if (row.phase === 'parse' || row.phase === 'stage') return JSON.stringify({ created_at, id, row: from })
  const searched = await job.db.all(
    sql<SearchedRow>`select row_number, group_key, ${cell('customer.email')} as email,
        ${cell('customer.phone_number')} as phone, ${cell('item.user.email')} as holder
      from import_rows where import_id = ${id} and row_number > ${from} order by row_number limit ${rowsAStep}`,
  )
  const named = searched.filter((one) => names(one, person, row.country_code))
  const ofOrders = from === 0 ? await keysOfOrders(job, id, person) : []
  const keys = new Set([...ofOrders, ...named].flatMap(({ group_key }) => group_key ?? []))
  const rows = named.flatMap(({ row_number, group_key }) => (group_key === null ? [row_number] : []))
  if (keys.size > 0 || rows.length > 0)
    await job.db.batch([...blanked(row, { rows, keys: [...keys] }), ...(await forgetFiles(job, row))])
  const last = searched.length === rowsAStep ? searched.at(-1)?.row_number : undefined
  // After the last row of an import the search goes on with the next import.
  return JSON.stringify(last === undefined ? { created_at, id: `${id}~`, row: 0 } : { created_at, id, row: last })
}
