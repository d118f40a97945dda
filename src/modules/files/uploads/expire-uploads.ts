import { eq, getTableColumns, lte } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { commitPart } from '../../../db/commit.ts'
import { fileUploads } from '../../../db/schema/files/files.ts'
import { select } from '../../../db/select.ts'
import { remove } from '../../../db/write.ts'
import { LostRace } from '../../../domain/errors.ts'
import { dropUpload } from './uploads.ts'

const uploadsASweep = 50

/** Drops uploads after a day. Of completed ones only the row of the upload goes; the file stays. */
export async function sweepUploads(job: JobCtx): Promise<void> {
  const now = job.now()
  const due = await job.db.all(
    select(getTableColumns(fileUploads))
      .from(fileUploads)
      .where(lte(fileUploads.expires_at, now))
      .orderBy(fileUploads.expires_at)
      .limit(uploadsASweep),
  )
  for (const row of due)
    await commitPart(
      job,
      row.file_id === null ? dropUpload(row, now) : [remove(fileUploads, eq(fileUploads.id, row.id))],
    ).catch((error: unknown) => {
      // Somebody sent a part or aborted it meanwhile: the next sweep looks again.
      if (!(error instanceof LostRace)) throw error
    })
}
