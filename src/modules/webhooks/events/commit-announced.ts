import type { JobCtx } from '../../../context.ts'
import { commitPart } from '../../../db/commit.ts'
import type { Statement } from '../../../db/database.ts'
import { type Announcement, announceAll } from './announce.ts'

/**
 * Commits background work with its events. The sweep replaces a message that is lost afterwards. Throws as `commitPart`
 * does.
 */
export async function commitAnnounced(
  job: JobCtx,
  statements: readonly Statement[],
  announcements: readonly Announcement[],
  unique: Readonly<Record<string, () => Error>> = {},
): Promise<void> {
  await commitPart(job, [...statements, ...announceAll(job, announcements)], unique)
}
