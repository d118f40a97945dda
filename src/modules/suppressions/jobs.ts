import { sql } from 'drizzle-orm'
import type { JobCtx } from '../../context.ts'
import { findSweepPosition, storeSweepPosition } from '../../db/sweeps.ts'
import { softBounceMemoryMs } from '../../domain/messaging/suppressions.ts'
import { isRecord, readJson } from '../../domain/text/json.ts'
import { dayMs } from '../../domain/time/instants.ts'

const sweepName = 'soft-bounces'
const bouncesPerSweep = 200

interface BounceKey {
  organization_id: string
  channel: string
  address: string
  reference: string
}

const key = sql.raw('(organization_id, channel, address, reference)')
const startKey: BounceKey = { organization_id: '', channel: '', address: '', reference: '' }

const isBounceKey = (value: unknown): value is BounceKey =>
  isRecord(value) && Object.keys(startKey).every((name) => typeof value[name] === 'string')

/**
 * Deletes soft bounces that no longer count. There is no index by time, because every bounce would have to write to it.
 * Instead each sweep reads the next rows of the table, and it begins again once a day.
 */
export async function sweepSoftBounces({ db, now }: Pick<JobCtx, 'db' | 'now'>): Promise<void> {
  const at = now()
  const position = await findSweepPosition(db, sweepName)
  const isUnderWay = position !== null && position.after !== ''
  if (position && !isUnderWay && position.begun_at > at - dayMs) return
  const after = isUnderWay ? readJson(position.after, isBounceKey) : startKey
  const bounces = await db.all(sql<
    BounceKey & { bounced_at: number }
  >`select organization_id, channel, address, reference,
      bounced_at from soft_bounces
    where ${key} > (${after.organization_id}, ${after.channel}, ${after.address}, ${after.reference})
    order by organization_id, channel, address, reference limit ${bouncesPerSweep}`)
  const expiredBounces = bounces.filter(({ bounced_at }) => bounced_at <= at - softBounceMemoryMs)
  const last = bounces.length === bouncesPerSweep ? bounces.at(-1) : undefined
  const { organization_id, channel, address, reference } = last ?? startKey
  await db.batch([
    sql`delete from soft_bounces where ${key} in (select value ->> 'organization_id', value ->> 'channel',
      value ->> 'address', value ->> 'reference' from json_each(${JSON.stringify(expiredBounces)}))`,
    storeSweepPosition(sweepName, {
      after: last ? JSON.stringify({ organization_id, channel, address, reference }) : '',
      begun_at: isUnderWay ? position.begun_at : at,
    }),
  ])
}
