import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { commitPart } from '../../../db/commit.ts'
import { LostRace } from '../../../domain/errors.ts'
import type { UploadColumns } from './upload-queries.ts'
import { dropUpload } from './uploads.ts'

const uploadsASweep = 50

/** Drops uploads whose day is over; of those that became files only the row. */
export async function sweepUploads(job: JobCtx): Promise<void> {
  const now = job.now()
  const due = await job.db.all(
    sql<UploadColumns>`select * from file_uploads where expires_at <= ${now} order by expires_at limit ${uploadsASweep}`,
  )
  for (const row of due)
    await commitPart(
      job,
      row.file_id === null ? dropUpload(row, now) : [sql`delete from file_uploads where id = ${row.id}`],
    ).catch((error: unknown) => {
      // Somebody sent a part or aborted it meanwhile: the next sweep looks again.
      if (!(error instanceof LostRace)) throw error
    })
}
