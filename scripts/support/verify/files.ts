import { parseStorageKey } from '../../../src/domain/files/addresses.ts'
import { addFaults, createFinding, type Finding, type Query, quote } from './query.ts'

/** Lists the keys of the file store with a prefix, in order, page by page. */
export type ListKeys = (prefix: string) => AsyncIterable<string[]>

const list = (values: readonly string[]): string => `select value from json_each(${quote(JSON.stringify(values))})`

/** A statement is at most 100 kB long, and a key about 60 characters. */
const keysAtOnce = 500

function* splitList<Item>(items: readonly Item[], size: number): Generator<Item[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size)
}

/** Lists rows that may own a key: stored bytes, uploads in parts, and bytes that a sweep deletes next. */
async function listOwnedKeys(query: Query, keys: readonly string[]): Promise<Set<string>> {
  const rows = await query<{ storage_key: string }>(
    ['stored_objects', 'file_uploads', 'objects_to_delete']
      .map((table) => `select storage_key from ${table} where storage_key in (${list(keys)})`)
      .join(' union '),
  )
  return new Set(rows.map(({ storage_key }) => storage_key))
}

async function listImports(query: Query, ids: readonly string[]): Promise<Set<string>> {
  const rows = await query<{ id: string }>(
    `select id from data_imports where id in (${list(ids)}) and files_deleted_at is null`,
  )
  return new Set(rows.map(({ id }) => id))
}

const readImportId = (key: string): string => key.split('/')[1] ?? ''

async function findUnownedKeys(query: Query, prefix: string, keys: readonly string[]): Promise<string[]> {
  const parse = prefix === 'imports/' ? readImportId : parseStorageKey
  const owners = [...new Set(keys.map(parse))]
  const ownedKeys = prefix === 'imports/' ? await listImports(query, owners) : await listOwnedKeys(query, owners)
  const toDelete = prefix === 'imports/' ? await listOwnedKeys(query, keys) : new Set<string>()
  return keys.filter((key) => !ownedKeys.has(parse(key)) && !toDelete.has(key))
}

/** Finds files of the store that no row names. */
async function findFilesWithoutRows(query: Query, listKeys: ListKeys): Promise<Finding> {
  const finding = createFinding('Files without rows', 'files')
  for (const prefix of ['objects/', 'derived/', 'imports/'])
    for await (const page of listKeys(prefix))
      for (const keys of splitList(page, keysAtOnce)) {
        finding.compared += keys.length
        const unownedKeys = await findUnownedKeys(query, prefix, keys)
        addFaults(
          finding,
          unownedKeys.map((key) => `No row names ${key}.`),
        )
      }
  return finding
}

interface StoredObject {
  storage_key: string
  organization_id: string
  is_missing: number
}

const describeMissing = ({ storage_key, organization_id, is_missing }: StoredObject): string =>
  `${storage_key} of ${organization_id} is not in the store${is_missing ? ', as the service has noted' : ''}.`

/** Finds rows whose bytes are gone. Both lists are in the order of keys, so they are read side by side. */
async function findRowsWithoutFiles(query: Query, listKeys: ListKeys): Promise<Finding> {
  const finding = createFinding('Rows without files', 'rows')
  const size = 5000
  let after = ''
  const readRows = async () => {
    const rows = await query<StoredObject>(
      `select storage_key, organization_id, is_missing from stored_objects where storage_key > ${quote(after)}
        order by storage_key limit ${size}`,
    )
    after = rows.at(-1)?.storage_key ?? after
    finding.compared += rows.length
    return rows
  }
  let rows = await readRows()
  const dropUpTo = async (lastKey: string | null, keys: ReadonlySet<string>) => {
    while (rows.length > 0) {
      const end = lastKey === null ? rows.length : rows.findIndex(({ storage_key }) => storage_key > lastKey)
      const coveredRows = end === -1 ? rows : rows.slice(0, end)
      addFaults(finding, coveredRows.filter(({ storage_key }) => !keys.has(storage_key)).map(describeMissing))
      if (end !== -1 && end < rows.length) {
        rows = rows.slice(end)
        return
      }
      rows = await readRows()
    }
  }
  for await (const page of listKeys('objects/')) {
    const last = page.at(-1)
    if (last !== undefined) await dropUpTo(last, new Set(page))
  }
  await dropUpTo(null, new Set())
  return finding
}

/** Compares the file store with its rows, in both directions. */
export const compareFiles = async (query: Query, listKeys: ListKeys): Promise<Finding[]> => [
  await findFilesWithoutRows(query, listKeys),
  await findRowsWithoutFiles(query, listKeys),
]

/** Without a list of the store, only what the service itself has noted is known: it compares both once a day. */
export async function readNotedFiles(query: Query, reason: string): Promise<Finding[]> {
  const finding = createFinding('Rows without files', 'rows')
  finding.limitation = `${reason} The faults are those that the service notes, which compares all files once a day.`
  const [counts] = await query<{ compared: number; missing: number }>(
    'select count(*) as compared, coalesce(sum(is_missing), 0) as missing from stored_objects',
  )
  finding.compared = counts?.compared ?? 0
  const rows = await query<StoredObject>(
    'select storage_key, organization_id, is_missing from stored_objects where is_missing = 1 order by 1 limit 10',
  )
  addFaults(finding, rows.map(describeMissing), counts?.missing ?? 0)
  return [finding]
}
