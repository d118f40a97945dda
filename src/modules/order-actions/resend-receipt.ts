import type { Ctx } from '../../context.ts'
import { commit } from '../../db/commit.ts'
import { editionArchived } from '../../domain/errors.ts'
import type { Language } from '../../domain/languages.ts'
import { checkReceipt } from '../../domain/messaging/transactional-emails.ts'
import { openEditions } from '../editions/index.ts'
import type { LoadedOrder } from '../orders/index.ts'
import {
  type EmailStateRow,
  enqueueEmails,
  loadReceiptState,
  planReceipt,
  receiptRaces,
} from '../transactional-emails/index.ts'

export interface SentReceipt {
  order: Pick<LoadedOrder['head'], 'id' | 'order_number'>
  /** Null if the caller does not know the address. */
  recipient: string | null
  language: Language
  receipt: EmailStateRow
}

/** Sends the receipt of an order again. Simultaneous requests send it once. */
export async function resendReceipt(ctx: Ctx, { head }: LoadedOrder): Promise<SentReceipt> {
  if (head.edition_is_archived) throw editionArchived()
  const state = await loadReceiptState(ctx, head)
  checkReceipt(state, ctx.now())
  const { receipt, statements } = planReceipt(ctx, head.id, state)
  const sentReceipt: SentReceipt = {
    order: head,
    recipient: head.email === state.email ? state.email : null,
    language: state.language,
    receipt,
  }
  await commit(ctx, sentReceipt, [...openEditions(head.edition_id), ...statements], receiptRaces)
  ctx.afterCommit(() => enqueueEmails(ctx))
  return sentReceipt
}
