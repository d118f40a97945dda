import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import { buildContactColumn } from '../../db/customers.ts'
import { users } from '../../db/schema/customers.ts'
import { purchases } from '../../db/schema/purchases.ts'
import { walletPasses } from '../../db/schema/wallet.ts'
import type { RowOf } from '../../db/select.ts'
import { toIso } from '../../domain/time/instants.ts'
import { type WalletChange, getWalletEventKind } from '../../domain/wallet/wallet.ts'
import type { Announcement } from '../webhooks/index.ts'

/** The fields that events about a pass contain: the pass, and its owner as the edition knows them. */
export const passEventFields = {
  ...getTableColumns(walletPasses),
  user_id: purchases.user_id,
  email: sql<string | null>`${buildContactColumn(sql`${users}`, 'email', sql`${walletPasses.edition_id}`)}`,
}

export type PassWithOwner = RowOf<typeof passEventFields>

export const passEventJoins: SQL = sql`join ${purchases} on ${purchases.id} = ${walletPasses.purchase_id}
  join ${users} on ${users.id} = ${purchases.user_id}`

/** Builds the event of a change. Some changes have none. */
export function buildPassAnnouncements(pass: PassWithOwner, change: WalletChange | null, now: number): Announcement[] {
  const kind = change && getWalletEventKind(pass.provider, change)
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
