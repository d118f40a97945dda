import { erasedAddress, type ErasedRecipient, isErasedAddress } from '../../domain/campaigns/sender.ts'
import type { Ledger } from './recipient-store.ts'

/**
 * Blanks what says who a recipient is; who was still to be sent to is skipped. It has to wait while a call is under way
 * or has to be repeated as it was: without this recipient it would be another call, and others would get it twice.
 */
export const eraseRecipient = (ledger: Ledger, n: number): ErasedRecipient =>
  ledger.together(() => {
    const { sql } = ledger.storage
    const [row] = ledger.people([n])
    if (!row || isErasedAddress(row)) return { is_done: true, address: null }
    const address = row.address === '' ? null : row.address
    const held = sql.exec(
      `select 1 from chunks, json_each(chunks.members) where json_each.value = ? and (state <> 'ready' or is_repeat = 1)`,
      n,
    )
    if (held.toArray().length) return { is_done: false, address }
    if (row.state === 'pending')
      ledger.settle(new Map([[n, { to: 'skipped', reason: 'inactive', code: '', detail: '' }]]), false)
    const person = JSON.stringify({ id: row.user_id, email: null, phone_number: null, first_name: '', last_name: '' })
    // Recipients of one campaign do not share an address, so each gets one of their own.
    sql.exec("update recipients set address = ?, person = ?, detail = '' where n = ?", erasedAddress(n), person, n)
    return { is_done: true, address }
  })
