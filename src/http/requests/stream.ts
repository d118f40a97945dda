import { utf8 } from '../../domain/text/encoding.ts'

/**
 * A body that is made while it is read: a chunk is asked for when the one before has gone out, so that memory stays the
 * same however long it gets. `onError` gets the failure; the reader sees the body break off.
 */
export const streamChunks = (
  chunks: AsyncIterator<string | Uint8Array, unknown>,
  onError: (error: unknown) => void,
): ReadableStream<Uint8Array> => {
  let isCancelled = false
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const { value, done } = await chunks.next()
          if (isCancelled) return
          if (done) controller.close()
          else controller.enqueue(typeof value === 'string' ? utf8(value) : value)
        } catch (error) {
          onError(error)
          controller.error(error)
        }
      },
      async cancel() {
        isCancelled = true
        await chunks.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}
