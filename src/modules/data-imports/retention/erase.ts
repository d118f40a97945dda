import { type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { inList } from '../../../db/conditions.ts'
import { selectFormerIds } from '../../../db/customers.ts'
import type { Statement } from '../../../db/database.ts'
import { decodeAs } from '../../../db/select.ts'
import { normalizeEmail, normalizePhone } from '../../../domain/accounts/users.ts'
import { importRetentionDays } from '../../../domain/data-imports/data-imports.ts'
import type { ErasedContacts } from '../../../domain/erasure.ts'
import { isNumbers, isRecord, readJson } from '../../../domain/text/json.ts'
import { dayMs } from '../../../domain/time/instants.ts'
import { selectRowNumbers } from '../background/staged.ts'
import { importFields, type ImportRow } from '../background/steps.ts'
import { selectBareResults } from '../external-orders/end-interrupted-calls.ts'
import { deleteContent, deleteCopy, findStoredFile } from './files.ts'

interface ErasedPerson extends ErasedContacts {
  organization_id: string
  user_id: string
}

interface ErasurePosition {
  created_at: number
  id: string
  row: number
}

const rowsPerStep = 5000
const callsPerStep = 100
/** The row of a position among calls, which are searched before the imports of files. */
const amongCalls = -1
/** Calls that began earlier have nothing to undo any more. */
const searchedCallsMs = 3 * importRetentionDays * dayMs

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

const extractCell = (target: string) => sql`json_extract(data, ${`$.values."${target}"`})`

const isPosition = (value: unknown): value is ErasurePosition =>
  isRecord(value) && typeof value['id'] === 'string' && isNumbers([value['created_at'], value['row']])

const readPosition = (after: string, now: number): ErasurePosition =>
  after === '' ? { created_at: now - searchedCallsMs, id: '', row: amongCalls } : readJson(after, isPosition)

/** Finds the import at the position of the search, or the next one. */
const findSearchedImport = (job: JobCtx, { organization_id }: ErasedPerson, { created_at, id }: ErasurePosition) =>
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

function concernsPerson({ email, phone, holder }: SearchedRow, person: ErasedPerson, country: string): boolean {
  const isTheirs = (address: string | null) =>
    address !== null && person.emails.has(normalizeEmail(address) ?? address.toLowerCase())
  if (isTheirs(email) || isTheirs(holder)) return true
  if (phone === null || person.phones.size === 0) return false
  const number = normalizePhone(phone, country)
  return number !== null && person.phones.has(number)
}

interface ErasableRows {
  rows: readonly number[]
  keys: readonly string[]
}

/** Orders of the person, and orders with a ticket that the person holds. */
const selectOrdersOfPerson = (userId: string) => sql`(select id from orders where user_id = ${userId}
  union select order_id from purchases where user_id = ${userId})`

const loadOrderKeys = (job: JobCtx, importId: string, { user_id }: ErasedPerson) =>
  job.db.all(
    sql<{ group_key: string }>`select group_key from import_orders indexed by import_orders_of_order
      where import_id = ${importId} and order_id in ${selectOrdersOfPerson(user_id)} and group_key not like 'erased %'`,
  )

/** Removes the person from undo data, also of orders that had this customer before. These can no longer be undone. */
export function buildUndoDataErasure(userId: string): Statement[] {
  const eraseOf = (orderIds: SQL) =>
    sql`update import_orders set undo_data = json_remove(undo_data, '$.people', '$.updated')
      where undo_data is not null and order_id in ${orderIds}`
  const formerOrders = sql`(select order_id from import_orders
    where undo_data ->> '$.updated.order.user_id' in ${selectFormerIds(userId)})`
  return [
    eraseOf(formerOrders),
    eraseOf(selectOrdersOfPerson(userId)),
    sql`update import_orders set undo_data = json_remove(undo_data, '$.people', '$.updated')
      where undo_data is not null and user_id = ${userId}`,
  ]
}

/** A later import may have given the tickets of the person to somebody else. The undo data still have the person. */
const eraseFormerHolder = (job: JobCtx, importIds: readonly string[], { user_id }: ErasedPerson) =>
  job.db.batch([
    sql`update import_orders set undo_data = json_remove(undo_data, '$.people', '$.updated')
      where ${inList(sql`import_id`, importIds)}
        and exists (select 1 from ${selectFormerIds(user_id)} where instr(undo_data, value) > 0)`,
  ])

/** Searches the next calls. Returns the position after them, which is that of the first file when there are none left. */
async function eraseInCalls(job: JobCtx, person: ErasedPerson, { created_at, id }: ErasurePosition): Promise<string> {
  const calls = await job.db.all(
    sql<{ id: string; created_at: number }>`select id, created_at from data_imports
      where organization_id = ${person.organization_id} and (created_at, id) > (${created_at}, ${id})
        and source = 'api' and rows_deleted_at is null and (undo_until is not null or resume_key is not null)
      order by created_at, id limit ${callsPerStep}`,
  )
  const last = calls.at(-1)
  if (!last) return JSON.stringify({ created_at: 0, id: '', row: 0 })
  const ids = calls.map((call) => call.id)
  await eraseFormerHolder(job, ids, person)
  return JSON.stringify({ ...last, row: amongCalls })
}

/** Removes texts about people from calls that were interrupted. A repetition needs only the ids of their orders. */
export const buildStoredResultsErasure = (organizationId: string): Statement =>
  sql`update data_imports indexed by data_imports_by_resume_key set stored_results = ${selectBareResults}
    where resume_key is not null and organization_id = ${organizationId}`

const erasedProblem = JSON.stringify([
  {
    column: null,
    target_field: null,
    code: 'person_erased',
    message: 'A person in this row was erased, so its data were deleted.',
    value: null,
  },
])

const buildBlanking = (
  outcome: SQL,
) => sql`data = '{"values":{}}', warnings = iif(warnings = '[]', '[]', ${erasedProblem}),
  errors = iif(errors = '[]' and ${outcome} <> 'error', '[]', ${erasedProblem})`

/** Blanks all rows of the person's orders. An order that was not imported yet cannot be imported afterwards. */
function buildErasure({ id, phase }: ImportRow, { rows, keys }: ErasableRows): Statement[] {
  const numbers = sql`(select value from json_each(${JSON.stringify(rows)}))`
  const groupKeys = sql`(select value from json_each(${JSON.stringify(keys)}))`
  const orderOf = (column: SQL) => sql`(select ${column} from import_orders
    where import_orders.import_id = ${id} and import_orders.group_key = import_rows.group_key)`
  return [
    sql`update import_rows set ${buildBlanking(sql`outcome`)} where import_id = ${id} and row_number in ${numbers}`,
    // The key of an order may be an e-mail address.
    sql`update import_rows set ${buildBlanking(sql`coalesce(outcome, ${orderOf(sql`outcome`)})`)},
          group_key = 'erased ' || ${orderOf(sql`number`)}
        where import_id = ${id} and row_number in ${selectRowNumbers(id, groupKeys)}`,
    sql`update import_orders set group_key = 'erased ' || number,
        errors = iif(errors = '[]', '[]', ${erasedProblem}), warnings = iif(warnings = '[]', '[]', ${erasedProblem})
      where import_id = ${id} and group_key in ${groupKeys}`,
    // The new epoch stops a consumer that has already read these rows. The sweep enqueues the work again.
    ...(phase === 'import'
      ? [sql`update data_imports set epoch = epoch + 1 where id = ${id} and phase = 'import'`]
      : []),
  ]
}

/** Deletes the uploaded file, and the copies of all imports that have read the same bytes. */
async function deleteFiles(job: JobCtx, row: ImportRow): Promise<Statement[]> {
  if (row.files_deleted_at !== null) return []
  const storedFile = await findStoredFile(job, row.file_id)
  const otherImports = storedFile
    ? await job.db.all(
        sql<{ id: string }>`select data_imports.id from files join data_imports on data_imports.file_id = files.id
          where files.organization_id = ${storedFile.organization_id} and files.storage_key = ${storedFile.storage_key}
            and files_deleted_at is null and data_imports.id <> ${row.id}`,
      )
    : []
  const copies = await Promise.all([row, ...otherImports].map(({ id }) => deleteCopy(job, id)))
  return [...copies.flat(), ...(storedFile ? deleteContent(job, storedFile) : [])]
}

/**
 * Blanks the next rows about the person in the imports of the organisation, and deletes the files of these imports.
 * Returns where to continue: null at the end, and the same position while an import is still being read.
 */
export async function eraseInImports(job: JobCtx, person: ErasedPerson, after: string): Promise<string | null> {
  const position = readPosition(after, job.now())
  if (position.row === amongCalls) return eraseInCalls(job, person, position)
  const row = await findSearchedImport(job, person, position)
  if (!row) return null
  const { id, created_at } = row
  const from = id === position.id ? position.row : 0
  if (row.phase === 'parse' || row.phase === 'stage') return JSON.stringify({ created_at, id, row: from })
  const searchedRows = await job.db.all(
    sql<SearchedRow>`select row_number, group_key, ${extractCell('customer.email')} as email,
        ${extractCell('customer.phone_number')} as phone, ${extractCell('item.user.email')} as holder
      from import_rows where import_id = ${id} and row_number > ${from} order by row_number limit ${rowsPerStep}`,
  )
  const matchingRows = searchedRows.filter((one) => concernsPerson(one, person, row.country_code))
  if (from === 0) await eraseFormerHolder(job, [id], person)
  const orderKeys = from === 0 ? await loadOrderKeys(job, id, person) : []
  const keys = new Set([...orderKeys, ...matchingRows].flatMap(({ group_key }) => group_key ?? []))
  const rows = matchingRows.flatMap(({ row_number, group_key }) => (group_key === null ? [row_number] : []))
  if (keys.size > 0 || rows.length > 0)
    await job.db.batch([...buildErasure(row, { rows, keys: [...keys] }), ...(await deleteFiles(job, row))])
  const last = searchedRows.length === rowsPerStep ? searchedRows.at(-1)?.row_number : undefined
  // `~` sorts behind all ids, so the search continues with the next import.
  return JSON.stringify(last === undefined ? { created_at, id: `${id}~`, row: 0 } : { created_at, id, row: last })
}
