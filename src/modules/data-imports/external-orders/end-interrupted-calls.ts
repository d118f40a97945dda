import { type SQL, sql } from 'drizzle-orm'
import type { JobCtx } from '../../../context.ts'
import { undoDays } from '../../../domain/data-imports/data-imports.ts'
import { dayMs, hourMs } from '../../../domain/time/instants.ts'

/** A client that repeats a call does it before this time is over. */
const resumeMs = hourMs
const callsPerSweep = 100

const message =
  'The request was interrupted. Send it again with the same Idempotency-Key to store the orders that are missing.'

/** The stored results without warnings, which can quote a name or a number. */
export const selectBareResults: SQL = sql`(select json_group_array(json_remove(value, '$.warnings'))
  from json_each(data_imports.stored_results))`

/** Ends calls that stopped between two groups. A repetition with the same key still continues them. */
export async function endInterruptedCalls({ db, now }: JobCtx): Promise<void> {
  await db.batch([
    sql`update data_imports
      set status = iif(created_orders + updated_orders + skipped_orders > 0, 'completed_with_errors', 'failed'),
        undo_until = iif(created_orders + updated_orders > 0, ${now() + undoDays * dayMs}, null),
        error_code = 'import_interrupted', error_message = ${message}, stored_results = ${selectBareResults},
        version = version + 1, modified_at = ${now()}
      where id in (select id from data_imports indexed by data_imports_interrupted
        where status = 'importing' and resume_key is not null and modified_at <= ${now() - resumeMs}
        order by modified_at limit ${callsPerSweep})`,
  ])
}
