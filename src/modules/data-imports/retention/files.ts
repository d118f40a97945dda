import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import type { Statement } from '../../../db/database.ts'
import { releaseContent } from '../../files/index.ts'
import { buildCanonicalPrefix } from '../mapping/source.ts'

const keysPerPage = 1000

async function listCanonicalKeys(job: JobCtx, importId: string): Promise<string[]> {
  const keys: string[] = []
  for (;;) {
    const after = keys.at(-1) ?? ''
    const listedFiles = await job.files.list({ prefix: buildCanonicalPrefix(importId), after, limit: keysPerPage })
    keys.push(...listedFiles.map(({ key }) => key))
    if (listedFiles.length < keysPerPage) return keys
  }
}

/** Deletes the parts of the canonical copy, except those with these keys. */
export async function deleteParts(
  job: JobCtx,
  importId: string,
  usedKeys: readonly string[] = [],
): Promise<Statement[]> {
  const keys = await listCanonicalKeys(job, importId)
  const unusedKeys = keys.filter((key) => !usedKeys.includes(key))
  if (unusedKeys.length === 0) return []
  return [
    sql`insert into objects_to_delete (storage_key, created_at) select value, ${job.now()}
      from json_each(${JSON.stringify(unusedKeys)}) where true on conflict do nothing`,
  ]
}

/** Subtracts the canonical copy from the storage of the organisation. */
const releaseCopy = (importId: string): Statement[] => [
  sql`update organization_storage set used_bytes = used_bytes - canonical_size
    from data_imports where data_imports.id = ${importId} and canonical_size is not null
      and organization_storage.organization_id = data_imports.organization_id`,
  sql`update data_imports set canonical_size = null where id = ${importId}`,
]

/** Deletes a canonical copy that is not finished, so that it does not fill the storage of the organisation. */
export const buildCopyRemoval = async (job: JobCtx, importId: string): Promise<Statement[]> => [
  ...releaseCopy(importId),
  ...(await deleteParts(job, importId)),
]

/** Deletes the canonical copy of an import with its samples. The import itself stays in lists. */
export async function deleteCopy(job: JobCtx, importId: string): Promise<Statement[]> {
  return [
    ...releaseCopy(importId),
    sql`update data_imports set files_deleted_at = ${job.now()}, version = version + 1
      where id = ${importId} and files_deleted_at is null`,
    sql`update import_columns set sample_values = '[]', statistics = '{}' where import_id = ${importId}`,
    ...(await deleteParts(job, importId)),
  ]
}

interface ImportFile {
  organization_id: string
  storage_key: string
}

export const findStoredFile = (job: JobCtx, fileId: string | null): Promise<ImportFile | undefined> =>
  job.db.first(
    sql<ImportFile>`select organization_id, storage_key from files where id = ${fileId} and storage_key is not null`,
  )

/** Deletes the bytes of an uploaded file unless another import may still read them. The file stays in lists. */
export async function deleteOriginal(job: JobCtx, fileId: string | null): Promise<Statement[]> {
  const file = await findStoredFile(job, fileId)
  if (!file) return []
  return [
    sql`update files set storage_key = null, version = version + 1, modified_at = ${job.now()}
      where id = ${fileId} and not exists
        (select 1 from data_imports where file_id = ${fileId} and files_deleted_at is null)`,
    ...releaseContent(file.organization_id, file.storage_key, job.now()),
  ]
}

/** Deletes the bytes for all files of the organisation that share them. */
export const deleteContent = (job: JobCtx, { organization_id, storage_key }: ImportFile): Statement[] => [
  sql`update files set storage_key = null, version = version + 1, modified_at = ${job.now()}
    where organization_id = ${organization_id} and storage_key = ${storage_key}`,
  ...releaseContent(organization_id, storage_key, job.now()),
]
