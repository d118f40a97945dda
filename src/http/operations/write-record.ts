import type { Ctx } from '../../context.ts'
import { type AuditedWrite, buildAuditStatements } from './audit.ts'
import type { Operation } from './operation.ts'

/** Builds the statements that store the response for repetitions of the request. */
export type StoreResponse<Result> = (result: Result) => ReturnType<Ctx['recordWrite']>

interface WriteRecord<Result> {
  describeWrite: (result: Result) => AuditedWrite
  /** Absent without an Idempotency-Key. */
  storeResponse?: StoreResponse<Result> | undefined
}

/**
 * Adds `recordWrite` to the context of a verb that writes. It builds everything that `commit` writes beside the verb's
 * statements, in the same transaction: the audit entry if anything changes, and the response if the request has an
 * Idempotency-Key.
 */
export const addWriteRecord = <Result>(
  ctx: Ctx,
  operation: Operation,
  { describeWrite, storeResponse }: WriteRecord<Result>,
): Ctx => ({
  ...ctx,
  recordWrite: async (result, isChange) => [
    ...(isChange ? buildAuditStatements(ctx, operation, describeWrite(result as Result)) : []),
    ...((await storeResponse?.(result as Result)) ?? []),
  ],
})
