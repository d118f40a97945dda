import { sql } from 'drizzle-orm'
import type { Ctx } from '../../context.ts'
import { commit, requireOneChange } from '../../db/commit.ts'
import { deadMessages } from '../../db/schema/dead-messages.ts'
import { update } from '../../db/write.ts'
import { AppError } from '../../domain/errors.ts'
import { isQueue } from '../../domain/queues.ts'
import { enqueueAgain } from './enqueue.ts'
import type { LoadedDeadMessage } from './queries.ts'

const refuseBusyQueue = (cause: unknown): never => {
  throw new AppError('overloaded', 'The queue did not take the message. Try again in a moment.', { cause })
}

/**
 * Puts a message back into its queue, and then marks it. A crash in between leaves it unmarked, and another retry puts it
 * back twice, which its consumer does not mind. The other way round the message would be lost.
 */
export async function retryDeadMessage(ctx: Ctx, message: LoadedDeadMessage): Promise<LoadedDeadMessage> {
  const { id, queue, body, retried_at } = message
  if (retried_at !== null) return commit(ctx, message, [])
  if (!isQueue(queue))
    throw new AppError('queue_missing', `The queue \`${queue.slice(0, 64)}\` does not exist any more.`)
  await enqueueAgain(ctx, queue, body).catch(refuseBusyQueue)
  const changes = { retried_at: ctx.now() }
  return commit(ctx, { ...message, ...changes }, [
    update(deadMessages, changes, sql`id = ${id} and retried_at is null`),
    requireOneChange(),
  ])
}
