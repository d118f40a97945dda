import type { JobCtx } from '../../context.ts'
import type { Statement } from '../../db/database.ts'
import { listChanges, type Representation, systemActor } from '../../domain/audit.ts'
import { auditStatement } from '../audit-log/index.ts'
import type { RefundRow } from '../../db/schema/sales/refunds.ts'

type Action = 'requestBatchRefund' | 'completeRefund' | 'failRefund' | 'takeBackRefund' | 'recordProviderRefund'

/** The audit entry of background work on a refund. The key of the attempt takes the place of the request id. */
export const auditRefund = (
  job: Pick<JobCtx, 'now' | 'newId'>,
  action: Action,
  refund: RefundRow,
  change: { before: Representation | null; after: Representation },
): Statement =>
  auditStatement(
    {
      caller: { id: systemActor, credential: { id: null } },
      requestId: refund.provider_key ?? refund.id,
      now: job.now(),
      id: job.newId('audit_entry'),
    },
    {
      action,
      organization_id: refund.organization_id,
      edition_id: refund.edition_id,
      resource_type: 'refund_request',
      resource_id: refund.id,
      changes: listChanges(change.before, change.after),
    },
  )
