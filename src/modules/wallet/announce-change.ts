import type { SQL } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { commitPart } from '../../db/commit.ts'
import type { Statement } from '../../db/database.ts'
import { contactSeenInEdition } from '../../db/shared-customers.ts'
import { sql } from 'drizzle-orm'
import { LostRace } from '../../domain/errors.ts'
import { toIso } from '../../domain/instants.ts'
import { type WalletChange, walletEventKind } from '../../domain/wallet.ts'
import { type Announcement, announceAll } from '../webhooks/index.ts'
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

/** One transaction with the events that it causes. A message that is lost after it is made up for by the sweep. */
export async function commitAnnounced(
  job: JobCtx,
  statements: readonly Statement[],
  announcements: readonly Announcement[],
  unique: Readonly<Record<string, () => Error>> = {},
): Promise<void> {
  const after: (() => Promise<unknown>)[] = []
  const announcer = { ...job, afterCommit: (work: () => Promise<unknown>) => void after.push(work) }
  await commitPart(job, [...statements, ...announceAll(announcer, announcements)], unique)
  await Promise.allSettled(after.map((work) => work()))
}

const maxTries = 20

/** Decides anew when somebody else was faster. */
export async function retried<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++)
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof LostRace) || tries >= maxTries) throw error
    }
}
