import { erasedAddress, type ErasedRecipient, isErasedAddress } from '../../domain/campaigns/sender.ts'
import { chunkState } from './chunk-store.ts'
import type { RecipientStore } from './recipient-store.ts'

/**
 * Blanks the recipient's personal data; a pending recipient is skipped. It waits while a call is under way or has to be
 * repeated unchanged: without this recipient it would be another call, and others would get the message twice.
 */
export const eraseRecipient = (store: RecipientStore, n: number): ErasedRecipient =>
  store.transaction(() => {
    const { sql } = store.storage
    const [row] = store.recipients([n])
    if (!row || isErasedAddress(row)) return { is_done: true, address: null }
    const address = row.address === '' ? null : row.address
    const held = sql.exec(
      `select 1 from chunks, json_each(chunks.members) where json_each.value = ? and (state <> ${chunkState('ready')} or is_repeat = 1)`,
      n,
    )
    if (held.toArray().length) return { is_done: false, address }
    if (row.state === 'pending')
      store.recordOutcomes(new Map([[n, { to: 'skipped', reason: 'inactive', code: '', detail: '' }]]), false)
    const person = JSON.stringify({ id: row.user_id, email: null, phone_number: null, first_name: '', last_name: '' })
    sql.exec("update recipients set address = ?, person = ?, detail = '' where n = ?", erasedAddress(n), person, n)
    return { is_done: true, address }
  })
