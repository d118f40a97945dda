import type { Statement } from '../../../db/database.ts'
import { importOrders } from '../../../db/schema/data-imports.ts'
import { insertAll } from '../../../db/write.ts'
import type { GroupDecision } from '../../order-import/index.ts'

/** Stores what an undo of a call needs. Orders that the call skipped or refused need nothing. */
export const buildUndoRecords = (
  importId: string,
  { buildRecords }: Pick<GroupDecision, 'buildRecords'>,
): Statement[] =>
  insertAll(
    importOrders,
    buildRecords().flatMap(({ outcome, order_version, undo }) =>
      undo === null || (outcome.action !== 'created' && outcome.action !== 'updated')
        ? []
        : [
            {
              import_id: importId,
              number: outcome.index + 1,
              rows_count: 1,
              outcome: outcome.action,
              order_id: outcome.order_id,
              order_version,
              undo_data: JSON.stringify(undo),
            },
          ],
    ),
  )
