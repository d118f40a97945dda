import type { JobCtx } from '../../../context.ts'
import { commitPart } from '../../../db/commit.ts'
import type { Statement } from '../../../db/database.ts'
import { type Announcement, announceAll } from './announce.ts'

/**
 * One transaction of background work with the events that it causes. A message that is lost after it is made up for by
 * the sweep. Throws as `commitPart` does.
 */
export async function commitAnnounced(
  job: JobCtx,
  statements: readonly Statement[],
  announcements: readonly Announcement[],
  unique: Readonly<Record<string, () => Error>> = {},
): Promise<void> {
  await commitPart(job, [...statements, ...announceAll(job, announcements)], unique)
}
