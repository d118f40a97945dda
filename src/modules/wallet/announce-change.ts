import { type SQL, sql } from 'drizzle-orm'
import { contactSeenInEdition } from '../../db/shared-customers.ts'
import { toIso } from '../../domain/time/instants.ts'
import { type WalletChange, walletEventKind } from '../../domain/wallet/wallet.ts'
import type { Announcement } from '../webhooks/index.ts'
import type { PassRow } from './queries.ts'

/** A pass with the owner of its purchase, as the edition knows the person: what events say. */
export type AnnouncedPass = PassRow & { user_id: string; email: string | null }

export const announcedColumns: SQL = sql`wallet_passes.*, purchases.user_id,
  ${contactSeenInEdition(sql`users`, 'email', sql`wallet_passes.edition_id`)} as email`

export const announcedJoins: SQL = sql`join purchases on purchases.id = wallet_passes.purchase_id
  join users on users.id = purchases.user_id`

/** The event of a change; none for what is not announced. */
export function announcementsOf(pass: AnnouncedPass, change: WalletChange | null, now: number): Announcement[] {
  const kind = change && walletEventKind(pass.provider, change)
  if (!kind) return []
  const { id, serial_number, provider, platform, purchase_id, user_id, email } = pass
  return [
    {
      kind,
      organization_id: pass.organization_id,
      edition_id: pass.edition_id,
      data: {
        pass: { id, serial_number, provider, platform },
        purchase: { id: purchase_id },
        user: { api_id: user_id, email },
        occurred_at: toIso(now),
      },
    },
  ]
}
